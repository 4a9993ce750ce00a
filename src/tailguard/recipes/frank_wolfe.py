"""Hu et al. 2022, Algorithm 1: Frank–Wolfe over a polytope with smoothed gradients and privately picked vertices."""

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from tailguard._validate import integer, real, refuse
from tailguard.losses.base import ResidualLoss
from tailguard.mechanisms import NoisyMax
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import moment_of
from tailguard.recipes.base import Recipe
from tailguard.recipes.feasible import carry
from tailguard.recipes.prediction import THEOREM_UNIT, theorem_error
from tailguard.recipes.prepared_frank_wolfe import plan_walk
from tailguard.recipes.truncated_mean import FAILURE
from tailguard.solvers.entries import ClampedEntries, SmoothedEntries
from tailguard.solvers.frank_wolfe import FrankWolfe
from tailguard.solvers.vertices import Hull, hull, l1_diameter, l1_reach, score_count, score_type
from tailguard.statistics import smoothing
from tailguard.statistics.base import grid_bits
from tailguard.theory import hu

__all__ = [
    "RECIPE",
    "convex_steps",
    "paper_regression",
    "plan_with",
    "public_start",
    "robust_steps",
    "smoothing_scale",
    "vertex_step",
]

NAME = "frank_wolfe"

WIDTH = 0.5
"""Where practical parameters clamp entries of a gradient, in units of a usual row times a usual slope."""


def convex_steps(n: int, domain: Hull, epsilon: float, smoothness: float, bound: float) -> int:
    """Return T = (nε·α²·D²/(τ·ln(|V|d/ζ)))^(1/3) of Theorem 2, rounded down, with D = ‖W‖₁, τ = bound² and ζ = 0.05.

    The paper's T has no D, because its curvature constant αD should be αD²; with D², T does not change with the units.
    """
    logs = math.log(score_count(domain) * domain.dimension / FAILURE)
    ratio = smoothness * l1_diameter(domain) / bound
    return max(1, math.floor(math.cbrt(n * epsilon * ratio**2 / logs)))


def robust_steps(n: int, domain: Hull, epsilon: float, smoothness: float, bound: float) -> int:
    """Return T = (αD/√τ)·√(nε/ln(d/ζ)) of Theorem 3, rounded down; the paper has αD/√τ = 1."""
    ratio = smoothness * l1_diameter(domain) / bound
    return max(1, math.floor(ratio * math.sqrt(n * epsilon / math.log(domain.dimension / FAILURE))))


def smoothing_scale(n: int, candidates: int, epsilon: float, steps: int, bound: float) -> float:
    """Return s = √(nετ/(T·ln(candidates·T/ζ))): Theorem 2 with |V|·d candidates, Theorem 3 with d."""
    return bound * math.sqrt(n * epsilon / (steps * math.log(candidates * steps / FAILURE)))


def vertex_step(domain: Hull, bits: int, multiplier: float, steps: int, blocks: int) -> Step:
    """Return the T picks of a vertex, with Gumbel noise of multiplier × the scores' sensitivity."""
    kind, count, mechanism = score_type(domain), score_count(domain), NoisyMax()
    sensitivity = kind.sensitivity_of(mechanism.norm, count, bits, 1)
    return Step("vertex", kind.kind, count, bits, 1, sensitivity, mechanism, multiplier, steps, blocks)


def public_start(start: ArrayLike | None) -> tuple[float, ...] | None:
    """Return a start as plain numbers; whether it lies in the domain is checked where it is used."""
    return None if start is None else tuple(np.atleast_1d(np.asarray(start, dtype=np.float64)).tolist())


def plan_with(
    problem: Problem,
    privacy: Privacy,
    *,
    steps: int | None = None,
    scale: float | None = None,
    step_size: float | None = None,
    beta: float = 1.0,
    start: ArrayLike | None = None,
) -> Plan:
    """Return Algorithm 1 with the numbers that are given, and the theorems' where none are.

    A convex loss gets the numbers of Theorem 2, another one (the biweight) those of Theorem 3. Section 6 of the paper
    takes T = ⌊(nε)^(1/3)⌋, s = ⌊nε⌋, η = 2/(t+2) and a random start in the unit ball. Its squared loss has twice our
    gradient, so that the same algorithm has s = ⌊nε⌋/2 here; the logistic loss is the same.

    Parameters
    ----------
    problem : Problem
        On an ℓ1 ball, a simplex or a polytope; no intercept.
    privacy : Privacy
        The algorithm is ε-DP whatever δ is.
    steps : int, optional
        T, the number of steps and of disjoint blocks: `convex_steps` or `robust_steps`.
    scale : float, optional
        s of `smoothing_scale`. The moment, of the gradient's coordinates, is needed only for these two defaults.
    step_size : float, optional
        A constant η. The default is η_(t−1) = 2/(t+2) for a convex loss, and 1/√T else.
    beta : float, default=1.0
        β, the precision of the smoothing; the theorems have O(1).
    start : vector, optional
        w⁰, public and in the domain; 0 where that lies in it, else the mean of the vertices.

    Notes
    -----
    *Guarantee.* The noise is that of line 6, for the sensitivity 4√2·‖W‖₁·s/(3m). A score really moves by at most
    2·max‖v‖₁·s·sup|ψ_β|/m, so that `verify` finds 0.341·ε spent on an ℓ1 ball at β = 1.
    """
    owner = f"{NAME} with parameters='paper'"
    domain, convex = hull(problem.domain, owner), problem.loss.convex
    if problem.intercept:
        raise refuse("intercept", owner, "False: the theorems have none", True)
    if not convex and not isinstance(problem.loss, ResidualLoss):
        raise refuse("loss", owner, "convex, or a loss of residuals", problem.loss)
    if steps is None:
        rule = convex_steps if convex else robust_steps
        steps = rule(problem.n, domain, privacy.epsilon, problem.smoothness, _bound(problem))
    steps = integer("steps", steps, owner)
    carry("A block of records for every step", steps / problem.n, 1.0, problem, privacy)
    if scale is None:
        candidates = problem.d * (score_count(domain) if convex else 1)
        scale = smoothing_scale(problem.n, candidates, privacy.epsilon, steps, _bound(problem))
    solver = FrankWolfe(
        loss=problem.loss,
        domain=domain,
        d=problem.d,
        bits=grid_bits(problem.n),
        entries=SmoothedEntries(real("scale", scale, owner, above=0.0), beta),
        steps=steps,
        step_size=1.0 / math.sqrt(steps) if step_size is None and not convex else step_size,
        start=public_start(start),
    )
    return _plan(problem, privacy, solver, beta)


def _bound(problem: Problem) -> float:
    return moment_of(problem, NAME, low=2.0, high=math.inf, of=("coordinate", "direction"))[1]


def _plan(problem: Problem, privacy: Privacy, solver: FrankWolfe, beta: float) -> Plan:
    """The exponential mechanism with sensitivity Δ and budget ε is Gumbel noise of scale 2Δ/ε on the scores."""
    convex, domain = problem.loss.convex, solver.domain
    looseness = l1_diameter(domain) / l1_reach(domain) * smoothing.TOP / smoothing.bound(beta)
    theorem = "Hu et al. 2022, Theorem " + ("2" if convex else "3")
    return Plan(
        recipe=NAME,
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=(vertex_step(domain, solver.bits, 2.0 / privacy.epsilon * looseness, solver.steps, solver.steps),),
        sources=(
            ("steps, scale, step_size", f"{theorem}, ζ = {FAILURE:g}, where not given"),
            ("noise", "Hu et al. 2022, Algorithm 1 line 6"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(hu.frank_wolfe_risk if convex else hu.robust_risk, problem, privacy, "l1"),
    )


def paper_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 1 with the numbers of Theorem 2, or of Theorem 3 for a loss that is not convex."""
    return plan_with(problem, privacy)


RECIPE = Recipe(
    name=NAME,
    source="Hu et al. 2022, Algorithm 1",
    summary="Frank–Wolfe on an ℓ1 ball, a simplex or a polytope: every step moves towards a privately picked vertex.",
    planners={
        ("regression", "paper"): paper_regression,
        ("regression", "practical"): partial(plan_walk, NAME, ClampedEntries(WIDTH)),
    },
)
