"""What error to expect, from public facts alone. A prediction is printed with the plan and steers nothing."""

import math
from collections.abc import Callable
from typing import Literal

from tailguard.domains.base import Domain
from tailguard.domains.polytope import Polytope
from tailguard.domains.simplex import Simplex
from tailguard.domains.sparse import Sparse
from tailguard.errors import ParameterError
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.noise import CountNoise
from tailguard.solvers.oracles import MeanOracle
from tailguard.theory import Setting

__all__ = [
    "MEAN_UNIT",
    "RISK_UNIT",
    "THEOREM_UNIT",
    "dense_error",
    "mean_error",
    "regression_error",
    "sparse_error",
    "theorem_error",
]

MEAN_UNIT = "ℓ2 error in units of a column's standard deviation, for tails of order about 3"
RISK_UNIT = "excess risk ÷ the null model's, for a signal as strong as the noise"
THEOREM_UNIT = "the theorem's bound, in raw units; constant 1 where it hides constants"

NORM = 1.5
"""A usual clip level is NORM·(√d + 1) standard deviations."""


def mean_error(oracle: MeanOracle, problem: Problem, noise: CountNoise, share: float) -> float:
    """Return √(sampling² + noise²) for d columns of unit variance and an oracle with this share of the budget."""
    n, d = problem.n, problem.d
    level = NORM * (math.sqrt(d) + 1.0)
    added = 2.0 * level * oracle.noise(d) / d * noise.of_one(share) / n
    return math.sqrt(d / n + d * added**2)


def regression_error(problem: Problem, noise: CountNoise, sampling: float, gradient: float, gram: float) -> float:
    """Return x/(1 + x) with x = sampling·k/n + gradient·(k/nμ)² + gram·k⁵/(nμ)⁴.

    The first term is what a non-private fit pays, the second the noise of the gradients, the third that of the
    preconditioner, which slows the descent down. The factors were fitted to measured medians (`benchmarks/`).
    """
    n, k = problem.n, problem.d + problem.intercept
    strength = n / noise.multiplier
    x = sampling * k / n + gradient * (k / strength) ** 2 + gram * k**5 / strength**4
    return x / (1.0 + x)


def dense_error(
    problem: Problem, noise: CountNoise, sampling: float, gradient: float, start: float, floor: float
) -> float:
    """Return x/(1 + x) with x = sampling·k/n + gradient·(k/nμ)² + (start/nμ)³ + floor, for a descent on many columns.

    The third term is what units and levels cost that a small sample hardly carries; the last is the bias of shrinkage.
    """
    n, k = problem.n, problem.d + problem.intercept
    strength = n / noise.multiplier
    x = sampling * k / n + gradient * (k / strength) ** 2 + (start / strength) ** 3 + floor
    return x / (1.0 + x)


def sparse_error(
    problem: Problem, sparsity: int, noise: CountNoise, sampling: float, gradient: float, found: float
) -> float:
    """Return x/(1 + x) with x = sampling·k/n + gradient·(k/nμ)² + (found·s·ln(d/s)/nμ)⁶, for s equal coefficients.

    k counts the intercept too. The last term is the signal of columns that are not found: it rises steeply where nμ
    falls below found·s·ln(d/s).
    """
    n, k = problem.n, sparsity + problem.intercept
    strength = n / noise.multiplier
    missed = found * sparsity * math.log(problem.d / sparsity) / strength
    x = sampling * k / n + gradient * (k / strength) ** 2 + min(missed, 1e3) ** 6
    return x / (1.0 + x)


def theorem_error(
    theorem: Callable[[Setting], float], problem: Problem, privacy: Privacy, norm: Literal["l1", "l2"] = "l2"
) -> float | None:
    """Return the theorem's bound for these facts, or None where its conditions do not hold.

    The diameter is that of the domain in the given norm: ℓ1 for the polytopes of Hu et al. 2022.
    """
    moment, domain = problem.moment, problem.domain
    radius = domain.norm_bound(norm)
    if moment is None or moment.bound is None:
        return None
    try:
        setting = Setting(
            n=problem.n,
            d=domain.dimension + problem.intercept,
            epsilon=privacy.epsilon,
            delta=privacy.delta,
            order=moment.order,
            bound=moment.bound,
            diameter=2.0 * radius if math.isfinite(radius) else 1.0,
            smoothness=problem.smoothness,
            convexity=problem.strong_convexity or problem.smoothness,
            sparsity=domain.sparsity if isinstance(domain, Sparse) else 1,
            vertices=_vertices(domain),
        )
        return theorem(setting)
    except ParameterError:
        return None


def _vertices(domain: Domain) -> int | None:
    """Return the number of vertices where it is not the 2d of an ℓ1 ball, without listing them."""
    if isinstance(domain, Simplex):
        return domain.dimension
    return len(domain.corners) if isinstance(domain, Polytope) else None
