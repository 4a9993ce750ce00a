"""Zhao et al. 2024, Algorithm 3: noisy group means and an iteration on them, alone and as gradients."""

import math
from functools import partial

from tailguard.mechanisms import Gaussian
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import bounded_radius, moment_of
from tailguard.recipes.base import Recipe
from tailguard.recipes.clipping import concentrated_budget
from tailguard.recipes.feasible import carry_groups
from tailguard.recipes.mean import plan_centred_mean
from tailguard.recipes.median_of_means import step_privacy
from tailguard.recipes.prediction import THEOREM_UNIT, theorem_error
from tailguard.recipes.regression import plan_regression
from tailguard.recipes.truncated_mean import FAILURE
from tailguard.solvers.iterative_mean import iterations_needed
from tailguard.solvers.iterative_updating import IterativeUpdating
from tailguard.solvers.private_mean import PrivateMean
from tailguard.solvers.projected_gradient import ProjectedGradient
from tailguard.statistics.base import grid_bits
from tailguard.theory import zhao

__all__ = ["RECIPE", "group_count", "paper_mean", "paper_regression", "updating_radius"]

PRACTICAL = IterativeUpdating(groups=20, iterations=12)
"""Few groups, because their noise grows with the root of their number; 20 of them leave two for the 10 % of (27)."""


def group_count(failure: float = FAILURE) -> int:
    """Return k = ⌈800 ln(1/β)⌉ of Lemma 6."""
    return math.ceil(800.0 * math.log(1.0 / failure))


def updating_radius(n: int, d: int, epsilon: float, order: float, bound: float) -> float:
    """Return R = M·√d·(nε/√d)^(1/p) of Theorem 7, with the moment bound M put back."""
    return float(bound * math.sqrt(d) * (n * epsilon / math.sqrt(d)) ** (1.0 / order))


def paper_mean(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 3 with k of Lemma 6, R of Theorem 7 and t_c of Lemma 8.

    Correction. Theorem 6 claims amplification by shuffling, which does not hold (`solvers/iterative_mean.md`). The
    noise is that of disjoint groups instead: each group is ρ-zCDP with ρ of (15).
    """
    rho = concentrated_budget(privacy)
    oracle = _oracle(problem, privacy, problem.d, problem.n, rho)
    n, d, bits = problem.n, problem.d, grid_bits(problem.n)
    return Plan(
        recipe="iterative_updating",
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=PrivateMean(problem.domain, n, d, bits, oracle),
        steps=(_step("mean", oracle, d, bits, rho, 1),),
        sources=_sources("(15): disjoint groups"),
        predicted_error=theorem_error(zhao.disjoint_mean, problem, privacy),
    )


def paper_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 1 with Algorithm 3 for the gradients and T, η, R of Theorem 7.

    Each step is (ε₀, δ₀)-DP with (32), by disjoint groups as in `paper_mean`. With M put back, T = n²ε²M²/(dR²),
    rounded up.
    """
    order, bound = moment_of(problem, "iterative_updating", low=2.0, high=math.inf, of=("direction",))
    bounded_radius(problem, "iterative_updating")
    n, bits, k = problem.n, grid_bits(problem.n), problem.domain.dimension + problem.intercept
    radius = updating_radius(n, k, privacy.epsilon, order, bound)
    steps = max(1, math.ceil((n * privacy.epsilon * bound / radius) ** 2 / k))
    rho = concentrated_budget(step_privacy(privacy, steps))
    oracle = _oracle(problem, privacy, k, n, rho)
    solver = ProjectedGradient(
        loss=problem.loss,
        domain=problem.domain,
        n=n,
        d=problem.d,
        bits=bits,
        intercept=problem.intercept,
        oracle=oracle,
        steps=steps,
        step_size=1.0 / (problem.smoothness * math.sqrt(2.0 * steps)),
    )
    return Plan(
        recipe="iterative_updating",
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=(_step("gradient", oracle, k, bits, rho, steps),),
        sources=(("steps, step_size", "Zhao et al. 2024, Theorem 7"), *_sources("(32) and (15): disjoint groups")),
        predicted_error=theorem_error(zhao.iterated_risk, problem, privacy),
    )


def _oracle(problem: Problem, privacy: Privacy, k: int, n: int, rho: float) -> IterativeUpdating:
    """Return the oracle; t_c starts at 0, at most R away from the clipped mean, and r₀ is (25) with constant 1."""
    order, bound = moment_of(problem, "iterative_updating", low=2.0, high=math.inf, of=("direction",))
    groups, radius = group_count(), updating_radius(n, k, privacy.epsilon, order, bound)
    spread = math.sqrt(k + math.log(1.0 / FAILURE))
    near = bound * spread / math.sqrt(n) + radius / n * math.sqrt(groups / rho) * spread
    oracle = IterativeUpdating(radius, groups, iterations_needed(radius, near))
    carry_groups(oracle, n, problem, privacy)
    return oracle


def _step(name: str, oracle: IterativeUpdating, k: int, bits: int, rho: float, count: int) -> Step:
    dimension = oracle.dimension(k)
    sensitivity = oracle.kind.sensitivity_of("l2", dimension, bits, 1)
    multiplier = math.sqrt(1.0 / (2.0 * rho))
    return Step(name, oracle.kind.kind, dimension, bits, 1, sensitivity, Gaussian(), multiplier, count)


def _sources(noise: str) -> tuple[tuple[str, str], ...]:
    return (
        ("groups", f"Zhao et al. 2024, Lemma 6, β = {FAILURE:g}"),
        ("threshold", "Zhao et al. 2024, Theorem 7"),
        ("iterations", "Zhao et al. 2024, Lemma 8, r₀ of (25) with constant 1"),
        ("noise", f"Zhao et al. 2024, {noise}"),
        ("predicted_error", THEOREM_UNIT),
    )


RECIPE = Recipe(
    name="iterative_updating",
    source="Zhao et al. 2024, Algorithm 3",
    summary="Noisy clipped means of groups, then an iteration towards their centre; a reference, never the best.",
    planners={
        ("mean", "paper"): paper_mean,
        ("mean", "practical"): partial(plan_centred_mean, "iterative_updating", PRACTICAL),
        ("regression", "paper"): paper_regression,
        ("regression", "practical"): partial(plan_regression, "iterative_updating", PRACTICAL),
    },
)
