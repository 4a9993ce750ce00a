"""Tao et al. 2022, Algorithm 5: coordinates of gradients beyond a threshold count as 0, descend, peel."""

import math
from functools import partial

from numpy.typing import ArrayLike

from tailguard._validate import real
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import moment_of
from tailguard.recipes.base import Recipe
from tailguard.recipes.peeling_scales import tao_multiplier
from tailguard.recipes.prediction import THEOREM_UNIT, theorem_error
from tailguard.recipes.prepared_thresholding import Practice, plan_thresholding
from tailguard.recipes.sparse_mean import plan_peeled
from tailguard.recipes.thresholding import FAILURE, schedule, thresholding_plan
from tailguard.solvers.entries import TruncatedEntries
from tailguard.theory import tao

__all__ = ["RECIPE", "paper", "plan_with", "truncation"]

NAME = "truncated_thresholding"

PRACTICE = Practice(TruncatedEntries(threshold=4.0), step_size=1.5, steps=5)
"""What is cut off counts as 0, so that the threshold must be far out and the noise is large."""


def truncation(
    problem: Problem, privacy: Privacy, sparsity: int, steps: int, order: float = 2.0, bound: float = 1.0
) -> float:
    """Return B = M·(nε/(T·ln(dT/ξ)·√(s·ln(1/δ))))^(1/(1+v)) with 1 + v = order and u = M^(1+v).

    Theorem 10 has a factor γ inside the power. Bias and noise enter (53) with the same power of γ once η₀ = 2/(3γ) is
    put in, so that the balance has none; with it B would change when the loss is multiplied by a constant.
    """
    logs = math.log(problem.d * steps / FAILURE) * math.sqrt(sparsity * math.log(1.0 / privacy.delta))
    return float(bound * (problem.n * privacy.epsilon / (steps * logs)) ** (1.0 / order))


def plan_with(
    problem: Problem,
    privacy: Privacy,
    *,
    sparsity: int | None = None,
    steps: int | None = None,
    threshold: float | None = None,
    step_size: float | None = None,
    start: ArrayLike | None = None,
    ridge: float = 0.0,
) -> Plan:
    """Return Algorithm 5 with the numbers that are given, and Theorem 10's where none are.

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
        B of `truncation`; the moment, of order between 1 and 2, is needed only for this default.
    step_size : float, optional
        η₀ = 2/(3γ).
    start : vector, optional
        w¹ = 0. Public, with at most s non-zero entries.
    ridge : float, default=0.0
        ρ of a regulariser ρ‖w‖²/2. Its gradient is public and is added outside the truncation.
    """
    owner = f"{NAME} with parameters='paper'"
    numbers = schedule(problem, NAME, sparsity=sparsity, steps=steps, step_size=step_size, start=start)
    multiplier, source = tao_multiplier(numbers.sparsity, privacy), "given"
    if threshold is None:
        order, bound = moment_of(problem, NAME, low=1.0, high=2.0, of=("coordinate", "direction"))
        threshold = truncation(problem, privacy, numbers.sparsity, numbers.steps, order, bound)
        source = f"Tao et al. 2022, Theorem 10, ξ = {FAILURE:g}"
    return thresholding_plan(
        NAME,
        problem,
        privacy,
        numbers,
        TruncatedEntries(real("threshold", threshold, owner, above=0.0)),
        multiplier,
        ridge=ridge,
        sources=(
            ("threshold", source),
            ("sparsity, steps, step_size", "Tao et al. 2022, Theorem 10, where not given"),
            ("noise", "Tao et al. 2022, Algorithms 4 and 5"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(tao.sparse_risk, problem, privacy),
    )


def paper(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 5 with the numbers of Theorem 10."""
    return plan_with(problem, privacy)


RECIPE = Recipe(
    name=NAME,
    source="Tao et al. 2022, Algorithm 5",
    summary="Sparse models: truncated coordinates of the gradient, hard thresholding by peeling.",
    planners={
        ("regression", "paper"): paper,
        ("regression", "practical"): partial(plan_thresholding, NAME, PRACTICE),
        ("mean", "paper"): paper,
        ("mean", "practical"): partial(plan_peeled, NAME, TruncatedEntries()),
    },
)
