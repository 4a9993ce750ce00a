"""Tao et al. 2022, Algorithms 2 and 3: medians of truncated group means, alone and as gradients."""

import math
from dataclasses import replace
from functools import partial

from tailguard.mechanisms import Gaussian
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import bounded_radius, classical_multiplier, moment_of
from tailguard.recipes.base import Recipe
from tailguard.recipes.feasible import carry
from tailguard.recipes.mean import plan_centred_mean
from tailguard.recipes.prediction import THEOREM_UNIT, theorem_error
from tailguard.recipes.regression import plan_regression
from tailguard.recipes.truncated_mean import FAILURE
from tailguard.solvers.oracles import MedianOfClippedMeans, MedianOfMeans
from tailguard.solvers.private_mean import PrivateMean
from tailguard.solvers.projected_gradient import ProjectedGradient
from tailguard.statistics.base import grid_bits
from tailguard.theory import tao

__all__ = ["RECIPE", "group_count", "paper_mean", "paper_regression", "step_privacy"]

PRACTICAL_GROUPS = 3
"""The smallest number of groups that has a median: every further group multiplies the noise."""


def group_count(d: int, failure: float = FAILURE) -> int:
    """Return m = ⌈4 ln(2d/ξ)⌉, line 1 of Algorithm 3."""
    return math.ceil(4.0 * math.log(2.0 * d / failure))


def step_privacy(privacy: Privacy, steps: int) -> Privacy:
    """Return ε' = ε/(2√(2T ln(2/δ))), δ' = δ/(2T) of Lemma 1, for T steps on the same records."""
    epsilon = privacy.epsilon / (2.0 * math.sqrt(2.0 * steps * math.log(2.0 / privacy.delta)))
    return Privacy(epsilon, privacy.delta / (2.0 * steps))


def paper_mean(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 3 with τ = (u·ε·n/√d)^(1/(1+v)), the threshold of its corollary in the proof of Theorem 7."""
    multiplier = classical_multiplier(privacy)
    order, bound = moment_of(problem, "median_of_means", low=1.0, high=2.0, of=("coordinate", "direction"))
    n, d, bits = problem.n, problem.d, grid_bits(problem.n)
    oracle = _oracle(problem, privacy, d, n)
    oracle = replace(oracle, threshold=bound * (privacy.epsilon * n / math.sqrt(d)) ** (1.0 / order))
    return Plan(
        recipe="median_of_means",
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=PrivateMean(problem.domain, n, d, bits, oracle),
        steps=(_step("mean", d, bits, multiplier, 1, 1),),
        sources=(
            ("groups", f"Tao et al. 2022, Algorithm 3 line 1, ξ = {FAILURE:g}"),
            ("threshold", "Tao et al. 2022, corollary in the proof of Theorem 7"),
            ("noise", "Tao et al. 2022, Algorithm 3 line 12, with the smallest group's size"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(tao.median_of_means, problem, privacy),
    )


def paper_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 2: Theorem 6's numbers for a convex loss, Theorem 7's for a strongly convex one.

    Which of the two is decided by `problem.strong_convexity`.
    """
    return _strongly_convex(problem, privacy) if problem.strong_convexity > 0.0 else _convex(problem, privacy)


def _convex(problem: Problem, privacy: Privacy) -> Plan:
    """Theorem 6: whole data in every step, average of the iterates.

    With the moment bound M put back, τ = M·(εn/d^(3/2))^(1/(1+v)) and T = (R·ε·n/(τ·d²))², η = Δ/(R√T). R bounds the
    population gradient; the moment assumption implies R ≤ M√d, which is what is used. T is rounded up.
    """
    order, bound = moment_of(problem, "median_of_means", low=1.0, high=2.0, of=("coordinate", "direction"))
    diameter = 2.0 * bounded_radius(problem, "median_of_means")
    n, k = problem.n, problem.domain.dimension + problem.intercept
    threshold = bound * (privacy.epsilon * n / k**1.5) ** (1.0 / order)
    gradient = bound * math.sqrt(k)
    steps = max(1, math.ceil((gradient * privacy.epsilon * n / (threshold * k**2)) ** 2))
    multiplier = classical_multiplier(step_privacy(privacy, steps))
    solver = _solver(problem, privacy, threshold, steps, diameter / (gradient * math.sqrt(steps)), 1)
    return _plan(problem, privacy, solver, multiplier, "Tao et al. 2022, Theorem 6")


def _strongly_convex(problem: Problem, privacy: Privacy) -> Plan:
    """Theorem 7: a block of its own for every step, last iterate.

    Corrections. T as printed divides by the logarithm of a number below 1 and has an undefined G. The proof of Lemma 18
    needs a contraction by (α²+β²+αβ)/(α+β)² from the diameter Δ down to (α+β)V/(αβ), V being the error (24) of the
    gradients, so T = ln(αβΔ/((α+β)V))/|ln((α²+β²+αβ)/(α+β)²)|. Printed is τ = (uεn/(d^(3/2)√T))^(1/(1+v)) does not fit
    the printed rate; balancing Theorem 3 on a block of n/T records does, with τ = (uεn/(T√d))^(1/(1+v)).
    """
    order, bound = moment_of(problem, "median_of_means", low=1.0, high=2.0, of=("coordinate", "direction"))
    diameter = 2.0 * bounded_radius(problem, "median_of_means")
    n, k, alpha, beta = (
        problem.n,
        problem.domain.dimension + problem.intercept,
        problem.strong_convexity,
        problem.smoothness,
    )
    v = order - 1.0
    error = bound * math.sqrt(k) * (n ** (-v / order) + (math.sqrt(k) / (privacy.epsilon * n)) ** (v / order))
    contraction = abs(math.log((alpha**2 + beta**2 + alpha * beta) / (alpha + beta) ** 2))
    wanted = math.log(max(math.e, alpha * beta * diameter / ((alpha + beta) * error)))
    steps = math.ceil(wanted / contraction)
    threshold = bound * (privacy.epsilon * n / (steps * math.sqrt(k))) ** (1.0 / order)
    solver = _solver(problem, privacy, threshold, steps, 1.0 / (alpha + beta), steps)
    return _plan(problem, privacy, solver, classical_multiplier(privacy), "Tao et al. 2022, Theorem 7")


def _solver(
    problem: Problem, privacy: Privacy, threshold: float, steps: int, step_size: float, blocks: int
) -> ProjectedGradient:
    k = problem.domain.dimension + problem.intercept
    return ProjectedGradient(
        loss=problem.loss,
        domain=problem.domain,
        n=problem.n,
        d=problem.d,
        bits=grid_bits(problem.n),
        intercept=problem.intercept,
        oracle=replace(_oracle(problem, privacy, k, problem.n // blocks), threshold=threshold),
        steps=steps,
        step_size=step_size,
        answer="average" if blocks == 1 else "last",
        blocks=blocks,
    )


def _oracle(problem: Problem, privacy: Privacy, k: int, size: int) -> MedianOfMeans:
    groups = group_count(k)
    carry(f"A median of {groups} group means", groups / max(size, 1), 1.0, problem, privacy)
    return MedianOfMeans(groups=groups)


def _plan(problem: Problem, privacy: Privacy, solver: ProjectedGradient, multiplier: float, source: str) -> Plan:
    k = problem.domain.dimension + problem.intercept
    step = _step("gradient", k, solver.bits, multiplier, solver.steps, solver.blocks)
    return Plan(
        recipe="median_of_means",
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=(step,),
        sources=(
            ("threshold, steps, step_size", source),
            ("groups", f"Tao et al. 2022, Algorithm 3 line 1, ξ = {FAILURE:g}"),
            ("noise", "Tao et al. 2022, Lemma 1 and Lemma 3"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(
            tao.convex_risk if solver.blocks == 1 else tao.strongly_convex_risk, problem, privacy
        ),
    )


def _step(name: str, k: int, bits: int, multiplier: float, count: int, blocks: int) -> Step:
    kind = MedianOfMeans.kind
    sensitivity = kind.sensitivity_of("l2", k, bits, 1)
    return Step(name, kind.kind, k, bits, 1, sensitivity, Gaussian(), multiplier, count, blocks)


RECIPE = Recipe(
    name="median_of_means",
    source="Tao et al. 2022, Algorithms 2 and 3",
    summary="Coordinatewise median of truncated group means; its theorems hold for moments of order between 1 and 2.",
    planners={
        ("mean", "paper"): paper_mean,
        ("mean", "practical"): partial(
            plan_centred_mean, "median_of_means", MedianOfClippedMeans(groups=PRACTICAL_GROUPS)
        ),
        ("regression", "paper"): paper_regression,
        ("regression", "practical"): partial(
            plan_regression, "median_of_means", MedianOfClippedMeans(groups=PRACTICAL_GROUPS)
        ),
    },
)
