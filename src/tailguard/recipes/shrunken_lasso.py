"""Hu et al. 2022, Algorithm 2: shrink features and targets, then Frank–Wolfe on an ℓ1 ball with the whole data."""

import math

from numpy.typing import ArrayLike

from tailguard._validate import integer, real, refuse
from tailguard.domains.l1_ball import L1Ball
from tailguard.losses.squared import Squared
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import moment_of
from tailguard.recipes.base import Recipe
from tailguard.recipes.frank_wolfe import public_start, vertex_step
from tailguard.recipes.prediction import THEOREM_UNIT, theorem_error
from tailguard.recipes.prepared_frank_wolfe import plan_walk
from tailguard.recipes.truncated_mean import FAILURE
from tailguard.solvers.entries import ShrunkenEntries
from tailguard.solvers.frank_wolfe import FrankWolfe
from tailguard.statistics.base import grid_bits
from tailguard.theory import hu

__all__ = ["RECIPE", "lasso_steps", "paper_regression", "plan_practical", "plan_with", "shrinkage", "step_budget"]

NAME = "shrunken_lasso"

WIDTH, LIMIT = 0.5, 1.0
"""Where practical parameters limit entries of a row and slopes, in units of their usual sizes."""


def lasso_steps(n: int, d: int, privacy: Privacy, smoothness: float, bound: float) -> int:
    """Return T = (√(nε)·λ/(M²·√ln(1/δ)·ln(d/ζ)))^(4/5) of Theorem 5, rounded down, for the unit ball.

    The paper has M = 1 and writes the logarithms under one root; λ/M² does not change with the units of the features,
    and Lemma 1 puts ln(d/ζ) outside.
    """
    logs = math.sqrt(math.log(1.0 / privacy.delta)) * math.log(d / FAILURE)
    ratio = math.sqrt(n * privacy.epsilon) * smoothness / (bound**2 * logs)
    return max(1, math.floor(math.pow(ratio, 0.8)))


def shrinkage(n: int, epsilon: float, steps: int, bound: float = 1.0) -> float:
    """Return K = M·(nε)^(1/4)/T^(1/8) of Theorem 5, with the fourth moment E|·|⁴ ≤ M⁴ put back."""
    return float(bound * (n * epsilon) ** 0.25 / steps**0.125)


def step_budget(privacy: Privacy, steps: int) -> float:
    """Return ε/(2√(2T·ln(1/δ))), line 4."""
    return privacy.epsilon / (2.0 * math.sqrt(2.0 * steps * math.log(1.0 / privacy.delta)))


def plan_with(
    problem: Problem,
    privacy: Privacy,
    *,
    steps: int | None = None,
    threshold: float | None = None,
    step_size: float | None = None,
    start: ArrayLike | None = None,
) -> Plan:
    """Return Algorithm 2 with the numbers that are given, and Theorem 5's where none are.

    Section 6 of the paper takes T = (nε)^(2/5), K = (nε)^(1/4)/T^(1/8) (`shrinkage`), η = 2/(t+2) and a random start in
    the unit ball.

    The paper's ball is the unit ball. On a ball of radius r the algorithm is run on r·x with coefficients w/r: r·x and
    y are shrunk to ±K, λ becomes r²λ, and M the larger of M and rM.

    Parameters
    ----------
    problem : Problem
        Squared loss on an ℓ1 ball, no intercept; its smoothness is λ = λ_max(E xxᵀ).
    privacy : Privacy
        δ > 0. Theorem 4 asks for ε < 1 and δ < 1; what is spent is recomputed anyway.
    steps : int, optional
        T of `lasso_steps`.
    threshold : float, optional
        K of `shrinkage`. The moment, of every feature and of the target, is needed only for these two defaults.
    step_size : float, optional
        A constant η; the default is η_(t−1) = 2/(t+2).
    start : vector, optional
        w⁰ = 0. Public, of ℓ1 norm at most r: the printed sensitivity is too small for any other.

    Notes
    -----
    *Guarantee.* The noise is that of line 4, with ‖W‖₁ read as max ‖v‖₁ = 1, for which the sensitivity 8K²/n of the
    printed loss (⟨x, w⟩ − y)², 4K²/n of ours, is exact; read as a diameter it doubles the noise. Residuals are clamped
    at 2K, the most that they can be, so that it is enforced. `verify` finds less than a fifth of ε spent: the printed
    composition does not know that picks have a bounded range.
    """
    owner = f"{NAME} with parameters='paper'"
    domain = _ball(problem, privacy, owner)
    if steps is None:
        smooth = problem.smoothness * domain.radius**2
        steps = lasso_steps(problem.n, problem.d, privacy, smooth, _bound(problem, domain))
    steps = integer("steps", steps, owner)
    if threshold is None:
        threshold = shrinkage(problem.n, privacy.epsilon, steps, _bound(problem, domain))
    threshold = real("threshold", threshold, owner, above=0.0)
    solver = FrankWolfe(
        loss=problem.loss,
        domain=domain,
        d=problem.d,
        bits=grid_bits(problem.n),
        entries=ShrunkenEntries(threshold, 2.0 * threshold),
        steps=steps,
        step_size=step_size,
        start=public_start(start),
        stretch=domain.radius,
    )
    return Plan(
        recipe=NAME,
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=(vertex_step(domain, solver.bits, 2.0 / step_budget(privacy, steps), steps, 1),),
        sources=(
            ("steps, threshold", f"Hu et al. 2022, Theorem 5, ζ = {FAILURE:g}, where not given"),
            ("noise", "Hu et al. 2022, Algorithm 2 line 4, ‖W‖₁ = 1"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(hu.shrunken_lasso_risk, problem, privacy, "l1"),
    )


def _ball(problem: Problem, privacy: Privacy, owner: str) -> L1Ball:
    if not isinstance(problem.domain, L1Ball):
        raise refuse("domain", owner, "an L1Ball", problem.domain)
    if not isinstance(problem.loss, Squared):
        raise refuse("loss", owner, "squared", problem.loss)
    if problem.intercept:
        raise refuse("intercept", owner, "False: the theorem has none", True)
    if privacy.pure:
        raise refuse("delta", owner, "greater than 0", privacy.delta)
    return problem.domain


def _bound(problem: Problem, domain: L1Ball) -> float:
    bound = moment_of(problem, NAME, low=4.0, high=math.inf, of=("coordinate", "direction"))[1]
    return bound * max(1.0, domain.radius)


def paper_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 2 with the numbers of Theorem 5."""
    return plan_with(problem, privacy)


def plan_practical(problem: Problem, privacy: Privacy) -> Plan:
    """Return the walk of `frank_wolfe` with shrunken entries and slopes, in private units and with tight accounting."""
    if not isinstance(problem.domain, L1Ball):
        raise refuse("domain", NAME, "an L1Ball", problem.domain)
    if not isinstance(problem.loss, Squared):
        raise refuse("loss", NAME, "squared", problem.loss)
    return plan_walk(NAME, ShrunkenEntries(WIDTH, LIMIT), problem, privacy)


RECIPE = Recipe(
    name=NAME,
    source="Hu et al. 2022, Algorithm 2",
    summary="LASSO: shrunken features and targets, Frank–Wolfe on an ℓ1 ball with the whole data.",
    planners={
        ("regression", "paper"): paper_regression,
        ("regression", "practical"): plan_practical,
    },
)
