"""Tao et al. 2022: its theorems as functions of a `Setting`.

Tao, Wu, Cheng and Wang, "Private Stochastic Convex Optimization and Sparse Learning with Heavy-tailed Data Revisited".
"""

from tailguard.theory.tao import descent, lower, means
from tailguard.theory.tao.descent import convex_risk, sparse_risk, sparse_threshold, strongly_convex_risk
from tailguard.theory.tao.lower import (
    convex_lower,
    convex_lower_pure,
    mean_lower,
    sharp_sparse_lower,
    sparse_lower,
    sparse_lower_pure,
    strongly_convex_lower,
    strongly_convex_lower_pure,
    vector_mean_lower,
    vector_mean_lower_pure,
)
from tailguard.theory.tao.means import (
    best_threshold,
    empirical_mean,
    empirical_mean_failure,
    median_of_means,
    truncated_mean,
    truncated_mean_at,
    truncation_threshold,
)

__all__ = [
    "RATES",
    "best_threshold",
    "convex_lower",
    "convex_lower_pure",
    "convex_risk",
    "empirical_mean",
    "empirical_mean_failure",
    "mean_lower",
    "median_of_means",
    "sharp_sparse_lower",
    "sparse_lower",
    "sparse_lower_pure",
    "sparse_risk",
    "sparse_threshold",
    "strongly_convex_lower",
    "strongly_convex_lower_pure",
    "strongly_convex_risk",
    "truncated_mean",
    "truncated_mean_at",
    "truncation_threshold",
    "vector_mean_lower",
    "vector_mean_lower_pure",
]

RATES = (*means.RATES, *descent.RATES, *lower.RATES)
