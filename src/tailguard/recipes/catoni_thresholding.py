"""Hu et al. 2022, Algorithm 5: Catoni's estimator for every coordinate of the gradient, descend, peel."""

import math
from functools import partial

from numpy.typing import ArrayLike

from tailguard._validate import real
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import moment_of
from tailguard.recipes.base import Recipe
from tailguard.recipes.peeling_scales import hu_multiplier
from tailguard.recipes.prediction import THEOREM_UNIT, theorem_error
from tailguard.recipes.prepared_thresholding import Practice, plan_thresholding
from tailguard.recipes.sparse_mean import plan_peeled
from tailguard.recipes.thresholding import FAILURE, schedule, thresholding_plan
from tailguard.solvers.entries import SmoothedEntries
from tailguard.statistics import smoothing
from tailguard.theory import hu

__all__ = ["RECIPE", "paper", "plan_with", "scale"]

NAME = "catoni_thresholding"

PRACTICE = Practice(SmoothedEntries(threshold=1.0), step_size=2.5, steps=8)

PRINTED = 2.0 * math.sqrt(2.0)
"""Line 7 has λ = 4√2·kη/m: half of it is what one record counts at most, in units of kη/m."""


def scale(problem: Problem, privacy: Privacy, sparsity: int, steps: int, bound: float = 1.0) -> float:
    """Return k = B·√(nε/(T·√s·ln(Td/ζ)·√ln(1/δ))) with E|∇_j|² ≤ B² = τ.

    Theorem 8 says k = Õ(√(nετ)), its proof (n²ε²τ²/((sT)²·ln(Ts/ζ)))^(1/4). The latter does not balance the two terms
    of its sum, s²k²T²ln²(·)ln(1/δ)/(nε)² and sτ²/k², and gives s² instead of the theorem's s^(3/2); this does.
    """
    logs = math.log(steps * problem.d / FAILURE) * math.sqrt(math.log(1.0 / privacy.delta))
    return float(bound * math.sqrt(problem.n * privacy.epsilon / (steps * math.sqrt(sparsity) * logs)))


def plan_with(
    problem: Problem,
    privacy: Privacy,
    *,
    sparsity: int | None = None,
    steps: int | None = None,
    threshold: float | None = None,
    beta: float = 1.0,
    step_size: float | None = None,
    start: ArrayLike | None = None,
    ridge: float = 0.0,
) -> Plan:
    """Return Algorithm 5 with the numbers that are given, and Theorem 8's where none are.

    Section 6 of the paper takes s = 2s*, T = ⌊ln n⌋, k = c₂·nε for some integer c₂ and η = 0.5, and a random s*-sparse
    start in the unit ball.

    Parameters
    ----------
    problem : Problem
        Any loss, no intercept, a `Sparse` domain; squared distance for a sparse mean.
    privacy : Privacy
        δ > 0.
    sparsity : int, optional
        s, at least the domain's s*; the answer keeps the s* largest entries of the last point. 72(γ/μ)²s*, at most d.
    steps : int, optional
        T = ⌈(γ/μ)·ln n⌉, the number of steps and of disjoint blocks.
    threshold : float, optional
        k of `scale`; the moment is needed only for this default.
    beta : float, default=1.0
        Precision of the smoothing.
    step_size : float, optional
        η = 2/(3γ).
    start : vector, optional
        w¹ = 0. Public, with at most s non-zero entries.
    ridge : float, default=0.0
        ρ of a regulariser ρ‖w‖²/2. Its gradient is public and is added outside the smoothing.

    Notes
    -----
    Corrections. Line 4 takes the gradient at w^(t−1) and line 6 steps from w^t; it is taken at w^t. Line 7's λ is 3
    times the bound of the proof, and 3/(2Φ(√β) − 1) times (4.4 at β = 1) what the smoothed entries really are; the
    printed noise is used.
    """
    owner = f"{NAME} with parameters='paper'"
    numbers = schedule(problem, NAME, sparsity=sparsity, steps=steps, step_size=step_size, start=start)
    multiplier, source = hu_multiplier(numbers.sparsity, privacy), "given"
    if threshold is None:
        _, bound = moment_of(problem, NAME, low=2.0, high=math.inf, of=("coordinate", "direction"))
        threshold = scale(problem, privacy, numbers.sparsity, numbers.steps, bound)
        source = f"Hu et al. 2022, proof of Theorem 8, balanced, ζ = {FAILURE:g}"
    entries = SmoothedEntries(real("threshold", threshold, owner, above=0.0), beta)
    return thresholding_plan(
        NAME,
        problem,
        privacy,
        numbers,
        entries,
        multiplier * PRINTED / smoothing.bound(beta),
        ridge=ridge,
        sources=(
            ("threshold", source),
            ("sparsity, steps, step_size", "Hu et al. 2022, Theorem 8, where not given"),
            ("noise", "Hu et al. 2022, Algorithm 5 line 7 and Algorithm 4"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(hu.catoni_thresholding_risk, problem, privacy),
    )


def paper(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 5 with the numbers of Theorem 8."""
    return plan_with(problem, privacy)


RECIPE = Recipe(
    name=NAME,
    source="Hu et al. 2022, Algorithm 5",
    summary="Sparse models: Catoni's estimator in every coordinate of the gradient, hard thresholding by peeling.",
    planners={
        ("regression", "paper"): paper,
        ("regression", "practical"): partial(plan_thresholding, NAME, PRACTICE),
        ("mean", "paper"): paper,
        ("mean", "practical"): partial(plan_peeled, NAME, SmoothedEntries()),
    },
)
