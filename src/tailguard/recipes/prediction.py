"""What error to expect, from public facts alone. A prediction is printed with the plan and steers nothing."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tailguard.domains.base import Domain
from tailguard.domains.polytope import Polytope
from tailguard.domains.simplex import Simplex
from tailguard.domains.sparse import Sparse
from tailguard.errors import ParameterError
from tailguard.losses.base import ResidualLoss
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.small_budgets import all_public, faint
from tailguard.solvers.oracles import MeanOracle
from tailguard.theory import Setting

__all__ = [
    "FORMULAS",
    "MEAN_UNIT",
    "RISK_UNIT",
    "THEOREM_UNIT",
    "Formula",
    "mean_error",
    "risk",
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


@dataclass(frozen=True)
class Formula:
    """An expected error x, as a sum of what its parts cost; S is n × budget.

    x = sampling·k/n + (gradient + coordinates·k)·(k/S)² + gram·k⁵/S⁴ + weak·(k/S)⁴ + ridge·k²/S + (start/S)³
    + (found·s·ln(d/s)/S)⁶ + floor. k counts the coefficients that are fitted, the intercept included, s those of a
    sparse model. The terms are what a fit without privacy pays; the noise of gradients that are bounded as vectors, or
    by coordinates; that of a Gram matrix, which slows the descent down; slopes that are believed no more, because noise
    explains them; the regulariser that pure privacy needs; private units that a small sample hardly carries; the signal
    of columns that are not found; the bias of shrinkage.
    """

    sampling: float
    gradient: float
    gram: float = 0.0
    start: float = 0.0
    found: float = 0.0
    floor: float = 0.0
    ridge: float = 0.0
    coordinates: float = 0.0
    weak: float = 0.0

    def __call__(self, problem: Problem, noise: CountNoise) -> float:
        """Return x for a signal as strong as the noise."""
        domain, strength = problem.domain, problem.n / noise.multiplier
        size = domain.sparsity if isinstance(domain, Sparse) else problem.d
        k = size + problem.intercept
        sought = self.found * size * math.log(problem.d / size) / strength
        gradient = (self.gradient + self.coordinates * k) * (k / strength) ** 2
        x = self.sampling * k / problem.n + gradient + self.gram * k**5 / strength**4 + self.weak * (k / strength) ** 4
        return x + self.ridge * k**2 / strength + (self.start / strength) ** 3 + min(sought, 1e3) ** 6 + self.floor


FORMULAS: dict[tuple[str, str], Formula] = {
    ("newton", "residuals"): Formula(0.73, 32.0, weak=570.0, start=44.0),
    ("newton", "classes"): Formula(3.2, 73.0, weak=7_100.0, start=14.0),
    ("newton in public units", "residuals"): Formula(0.0, 10.0),
    ("newton in public units", "classes"): Formula(0.0, 30.0),
    ("clipping", "residuals"): Formula(1.4, 52.0, gram=450.0),
    ("clipping", "classes"): Formula(3.5, 160.0, gram=570.0),
    ("median_of_means", "residuals"): Formula(1.2, 220.0, gram=1100.0),
    ("median_of_means", "classes"): Formula(4.5, 620.0, gram=730.0),
    ("iterative_updating", "residuals"): Formula(1.2, 800.0, gram=1100.0),
    ("iterative_updating", "classes"): Formula(4.5, 2200.0, gram=730.0),
    ("truncated_mean", "residuals"): Formula(1.2, 0.0, gram=1100.0, coordinates=57.0),
    ("truncated_mean", "classes"): Formula(4.5, 0.0, gram=730.0, coordinates=160.0),
    ("centred_descent", "residuals"): Formula(1.5, 14.0, start=600.0),
    ("centred_descent", "classes"): Formula(3.3, 23.0, start=480.0, floor=0.015),
    ("objective_perturbation", "residuals"): Formula(2.0, 1440.0),
    ("objective_perturbation", "classes"): Formula(4.1, 2400.0, ridge=0.31),
    ("sparse_rounds", "residuals"): Formula(1.7, 115.0, found=11.0),
    ("sparse_rounds", "classes"): Formula(4.5, 160.0, found=13.0),
}
"""The practical recipes' factors, by recipe and by what is predicted, fitted to medians over synthetic families by
`python -m benchmarks.prediction --fit`; the same script says how often they are right. Those of `newton` at small
budgets in public units were measured on development data."""

LIKE = {"sparse_path": "sparse_rounds"}
"""Recipes that are predicted as others: what they do differently was not measured, or makes little difference."""


def risk(recipe: str, problem: Problem, privacy: Privacy, signal_to_noise: float = 1.0) -> float | None:
    """Return the excess risk to expect of a practical recipe ÷ the null model's, or None where nothing is known.

    Parameters
    ----------
    recipe : str
        Its name.
    problem, privacy : Problem, Privacy
        The public facts.
    signal_to_noise : float, default=1.0
        Assumed variance of the signal ÷ that of the noise; for classes 1 stands for log-odds of variance 4.
    """
    kind = "residuals" if isinstance(problem.loss, ResidualLoss) else "classes"
    if recipe == "newton" and all_public(problem) and faint(problem, privacy):
        recipe = "newton in public units"
    formula = FORMULAS.get((LIKE.get(recipe, recipe), kind))
    # Recipes that are not made for sparse models keep the largest coefficients in raw units: with columns of different
    # units these are the wrong ones, and nothing was measured.
    if formula is None or (isinstance(problem.domain, Sparse) and not formula.found):
        return None
    x = formula(problem, CountNoise.of(privacy)) / signal_to_noise
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
