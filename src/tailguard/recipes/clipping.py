"""Zhao et al. 2024, Algorithms 1 and 2: clip in ℓ2, add Gaussian noise, descend."""

import math
from functools import partial

from tailguard._validate import refuse
from tailguard.errors import BudgetError
from tailguard.mechanisms import Gaussian
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import bounded_radius, moment_of
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.mean import TAIL, least_order
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import MEAN_UNIT, THEOREM_UNIT, mean_error, theorem_error
from tailguard.recipes.regression import plan_regression
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.oracles import Clip
from tailguard.solvers.private_mean import PrivateMean
from tailguard.solvers.projected_gradient import ProjectedGradient
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.octaves import Octaves
from tailguard.theory import zhao

__all__ = ["RECIPE", "clip_radius", "concentrated_budget", "paper_mean", "paper_regression", "plan_mean"]

LEVEL = 0.1
"""Share of the budget that goes to a private radius."""


def concentrated_budget(privacy: Privacy) -> float:
    """Return ρ = ε²/(1 + 2√ln(1/δ))², equation (15).

    The paper asks for ε ≤ 1. What its proof needs is ρ ≤ 1, so that ρ ≤ √ρ in (16); we ask for that.

    Raises
    ------
    BudgetError
        If ρ > 1, where (16) fails and the formula is not private enough.
    """
    if privacy.pure:
        raise refuse("delta", "clipping with parameters='paper'", "greater than 0", privacy.delta)
    rho = (privacy.epsilon / (1.0 + 2.0 * math.sqrt(math.log(1.0 / privacy.delta)))) ** 2
    if rho > 1.0:
        raise BudgetError(f"Equation (15) of Zhao et al. 2024 holds only for ρ ≤ 1; {privacy} gives ρ = {rho:.3g}.")
    return rho


def clip_radius(n: int, d: int, rho: float, order: float, bound: float) -> float:
    """Return R = M·√d·min((n√ρ/√d)^(1/p), (n/d)^(1/p)), equation (19) with the moment bound M put back.

    The paper states (19) for M = 1; scaling the data by M scales R by M.
    """
    root = math.sqrt(d)
    return float(bound * root * min(n * math.sqrt(rho) / root, n / d) ** (1.0 / order))


def paper_mean(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 2 with R of (19), and noise for ρ-zCDP with ρ of (15) (Lemma 4)."""
    n, d, bits, rho = problem.n, problem.d, grid_bits(problem.n), concentrated_budget(privacy)
    order, bound = moment_of(problem, "clipping", low=2.0, high=math.inf, of=("direction",))
    radius = clip_radius(n, d, rho, order, bound)
    return Plan(
        recipe="clipping",
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=PrivateMean(problem.domain, n, d, bits, Clip(radius)),
        steps=(_gaussian_step("mean", d, bits, rho, 1),),
        sources=(
            ("radius", "Zhao et al. 2024, (19)"),
            ("noise", "Zhao et al. 2024, (15) and Lemma 4"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(zhao.clipped_mean, problem, privacy),
    )


def paper_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 1 with T, η and R of Theorem 4 and noise for ρ/T-zCDP a step (Theorem 3).

    With M put back, T = ρ n² M²/(d R²) and η = 1/(λ√(2T)): dividing the loss by M leaves η·∇ℓ unchanged. T is
    rounded up to a whole number of steps.
    """
    bounded_radius(problem, "clipping")
    n, bits, rho = problem.n, grid_bits(problem.n), concentrated_budget(privacy)
    order, bound = moment_of(problem, "clipping", low=2.0, high=math.inf, of=("direction",))
    k = problem.domain.dimension + problem.intercept
    radius = clip_radius(n, k, rho, order, bound)
    steps = max(1, math.ceil(rho * (n * bound / radius) ** 2 / k))
    solver = ProjectedGradient(
        problem.loss,
        problem.domain,
        n,
        problem.d,
        bits,
        problem.intercept,
        Clip(radius),
        steps,
        1.0 / (problem.smoothness * math.sqrt(2.0 * steps)),
    )
    return Plan(
        recipe="clipping",
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=(_gaussian_step("gradient", k, bits, rho, steps),),
        sources=(
            ("radius", "Zhao et al. 2024, (19)"),
            ("steps, step_size", "Zhao et al. 2024, Theorem 4"),
            ("noise", "Zhao et al. 2024, (15) and Theorem 3"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(zhao.clipped_risk, problem, privacy),
    )


def plan_mean(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 2 with tight accounting; the radius is (19)'s if M is known, else a private quantile's."""
    n, d, bits = problem.n, problem.d, grid_bits(problem.n)
    if problem.moment is not None and problem.moment.bound is not None:
        noise = CountNoise.of(privacy)
        rho = 0.5 / noise.multiplier**2
        radius = clip_radius(n, d, rho, problem.moment.order, problem.moment.bound)
        solver = PrivateMean(problem.domain, n, d, bits, Clip(radius))
        drafts = [Draft("mean", Clipped, d, 1.0)]
        source = "Zhao et al. 2024, (19), with the budget of a tight accountant"
    else:
        level = _private_level(problem, privacy)
        solver = PrivateMean(problem.domain, n, d, bits, Clip(1.0), level=level)
        drafts = [
            Draft("clip level", Octaves, CELLS, LEVEL),
            Draft("mean", Clipped, d, 1.0 - LEVEL),
        ]
        source = f"private quantile of the norms, tail mass {TAIL:g}·d ÷ (n × budget)"
    return Plan(
        recipe="clipping",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble(drafts, privacy, bits),
        sources=(("radius", source), ("predicted_error", MEAN_UNIT)),
        predicted_error=mean_error(Clip(), problem, CountNoise.of(privacy), drafts[-1].share),
    )


def _private_level(problem: Problem, privacy: Privacy) -> ClipLevel:
    noise = CountNoise.of(privacy)
    return ClipLevel(min(TAIL * problem.d * noise.of_one(1.0 - LEVEL) / problem.n, 0.5), least_order(problem))


def _gaussian_step(name: str, dimension: int, bits: int, rho: float, count: int) -> Step:
    """Return `count` releases that together are ρ-zCDP: multiplier √(count/2ρ), Lemma 4 and Theorem 3."""
    mechanism = Gaussian()
    sensitivity = Clipped.sensitivity_of(mechanism.norm, dimension, bits, 1)
    multiplier = math.sqrt(count / (2.0 * rho))
    return Step(name, Clipped.kind, dimension, bits, 1, sensitivity, mechanism, multiplier, count)


RECIPE = Recipe(
    name="clipping",
    source="Zhao et al. 2024, Algorithms 1 and 2",
    summary="Clip every record (or its gradient) in ℓ2, average, add Gaussian noise; descend with averages.",
    planners={
        ("mean", "paper"): paper_mean,
        ("mean", "practical"): plan_mean,
        ("regression", "paper"): paper_regression,
        ("regression", "practical"): partial(plan_regression, "clipping", Clip()),
    },
)
