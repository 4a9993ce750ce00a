"""Hu et al. 2022, Algorithm 3: shrink features and targets, descend, peel."""

import math
from functools import partial

from numpy.typing import ArrayLike

from tailguard._validate import real, refuse
from tailguard.losses.squared import Squared
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import bounded_radius, moment_of
from tailguard.recipes.base import Recipe
from tailguard.recipes.peeling_scales import hu_multiplier
from tailguard.recipes.prediction import THEOREM_UNIT, theorem_error
from tailguard.recipes.prepared_thresholding import Practice, plan_thresholding
from tailguard.recipes.thresholding import schedule, thresholding_plan
from tailguard.solvers.entries import ShrunkenEntries
from tailguard.theory import hu

__all__ = ["RECIPE", "paper_regression", "plan_with", "shrinkage"]

NAME = "shrunken_thresholding"

PRACTICE = Practice(ShrunkenEntries(threshold=0.5, limit=1.3), step_size=3.5, steps=8)
"""Half a scale and 1.3 medians leave less than a third of the gradient, and much less of the noise."""


def shrinkage(n: int, epsilon: float, sparsity: int, steps: int, bound: float = 1.0) -> float:
    """Return K = B·(nε/(sT))^(1/4), Theorem 7, with the fourth moment E|·|⁴ ≤ B⁴ put back."""
    return float(bound * (n * epsilon / (sparsity * steps)) ** 0.25)


def plan_with(
    problem: Problem,
    privacy: Privacy,
    *,
    sparsity: int | None = None,
    steps: int | None = None,
    threshold: float | None = None,
    step_size: float | None = None,
    start: ArrayLike | None = None,
) -> Plan:
    """Return Algorithm 3 with the numbers that are given, and Theorem 7's where none are.

    Section 6 of the paper takes s = c·s*, T = ⌊ln n⌋, K = (nε/(sT))^(1/4) and η = 0.5, and a random s*-sparse start in
    the unit ball. η = 0.5 diverges for γ > 4 (their features have γ = 5); η = 0.5/γ does not.

    Parameters
    ----------
    problem : Problem
        Squared loss, no intercept, a `Sparse` domain with a radius (the paper's is 1).
    privacy : Privacy
        δ > 0.
    sparsity : int, optional
        s, at least the domain's s*; the answer keeps the s* largest entries of the last point. 72(γ/μ)²s*, at most d.
    steps : int, optional
        T = ⌈(γ/μ)·ln n⌉, the number of steps and of disjoint blocks.
    threshold : float, optional
        K of `shrinkage`; the moment is needed only for this default.
    step_size : float, optional
        η = 2/(3γ).
    start : vector, optional
        w¹ = 0. Public, with at most s non-zero entries and a norm of at most the radius.

    Notes
    -----
    *Guarantee.* Residuals are clamped at K(√s·r + 1), the most that they can be if the start is what it must be, so the
    sensitivity 2K²(√s·r + 1)·η/m of line 6 is enforced. With another start the printed algorithm exceeds it.
    The gradient of line 5 is that of half the squared error, as here; the loss of line 1 has twice that.
    """
    owner = f"{NAME} with parameters='paper'"
    if not isinstance(problem.loss, Squared):
        raise refuse("loss", owner, "squared", problem.loss)
    radius = bounded_radius(problem, NAME)
    numbers = schedule(problem, NAME, sparsity=sparsity, steps=steps, step_size=step_size, start=start)
    source = "given"
    if threshold is None:
        _, bound = moment_of(problem, NAME, low=4.0, high=math.inf, of=("coordinate", "direction"))
        threshold = shrinkage(problem.n, privacy.epsilon, numbers.sparsity, numbers.steps, bound)
        source = "Hu et al. 2022, Theorem 7"
    threshold = real("threshold", threshold, owner, above=0.0)
    limit = threshold * (math.sqrt(numbers.sparsity) * radius + 1.0)
    return thresholding_plan(
        NAME,
        problem,
        privacy,
        numbers,
        ShrunkenEntries(threshold, limit),
        hu_multiplier(numbers.sparsity, privacy),
        sources=(
            ("threshold", source),
            ("sparsity, steps, step_size", "Hu et al. 2022, Theorem 7, where not given"),
            ("noise", "Hu et al. 2022, Algorithm 3 line 6 and Algorithm 4"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(hu.shrunken_thresholding_risk, problem, privacy),
    )


def paper_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 3 with the numbers of Theorem 7."""
    return plan_with(problem, privacy)


RECIPE = Recipe(
    name=NAME,
    source="Hu et al. 2022, Algorithm 3",
    summary="Sparse linear regression: shrunken records, hard thresholding by peeling.",
    planners={
        ("regression", "paper"): paper_regression,
        ("regression", "practical"): partial(plan_thresholding, NAME, PRACTICE),
    },
)
