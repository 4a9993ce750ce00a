"""Zhao et al. 2024: its theorems and its Table I as functions of a `Setting`.

Zhao, Wu, Liu, Wang, Fan and Li, "Differential Private Stochastic Optimization with Heavy-tailed Data: Towards Optimal
Rates".
"""

from tailguard.theory.zhao import clipping, iterating, table
from tailguard.theory.zhao.clipping import (
    clip_radius,
    clipped_mean,
    clipped_risk,
    sharp_clip_radius,
    sharp_clipped_mean,
    sharp_clipped_risk,
)
from tailguard.theory.zhao.iterating import disjoint_mean, iterated_mean, iterated_radius, iterated_risk
from tailguard.theory.zhao.table import kamath_quadratic_risk, kamath_risk, risk_lower, wang_risk

__all__ = [
    "RATES",
    "clip_radius",
    "clipped_mean",
    "clipped_risk",
    "disjoint_mean",
    "iterated_mean",
    "iterated_radius",
    "iterated_risk",
    "kamath_quadratic_risk",
    "kamath_risk",
    "risk_lower",
    "sharp_clip_radius",
    "sharp_clipped_mean",
    "sharp_clipped_risk",
    "wang_risk",
]

RATES = (*clipping.RATES, *iterating.RATES, *table.RATES)
