"""The practical parameters of the thresholding recipes for regression: nothing is asked and nothing assumed."""

import math
from dataclasses import dataclass

from tailguard._validate import refuse
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import target_drafts, target_preparation
from tailguard.recipes.thresholding import peeling_bits, sparse_domain
from tailguard.recipes.wide import wide_drafts, wide_preparation
from tailguard.solvers.clip_level import CELLS
from tailguard.solvers.entries import Entries
from tailguard.solvers.prepared_thresholding import PreparedThresholding
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.coordinatewise import Clamped
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scores import Shifted

__all__ = ["Practice", "plan_thresholding"]

TARGET, FEATURES, LEVELS, LENGTHS, CHOICE = 0.02, 0.08, 0.04, 0.03, 0.03
"""Shares of the target's centre and scale, the columns', the slope levels, the step lengths and the choice of a point;
the peeled gradients get the rest."""

SCALE_NOISE = 0.05
"""Noise in a cell of the target's histogram, as a share of n, up to which its scale is found."""

LEVEL_NOISE = 0.1
"""The same for a histogram of slopes, whose median is all that is sought."""

PEELING_NOISE = 3.0
"""Noise of a peeled coefficient × √s·(1 + ln(d/s)) up to which some of s equal coefficients can be found, in units of
the target's scale: beyond, the answer was 0 on synthetic data of any kind."""


@dataclass(frozen=True)
class Practice:
    """How a recipe is practised.

    Parameters
    ----------
    entries : Entries
        How coordinates are bounded, for columns of scale 1 and slopes of median size 1.
    step_size : float
        η for a loss of curvature 1: about 1 ÷ the part of the gradient that the bounds leave of it.
    steps : int
        T.
    """

    entries: Entries
    step_size: float
    steps: int


def plan_thresholding(recipe: str, practice: Practice, problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `PreparedThresholding`.

    Raises
    ------
    BudgetError
        When n, d, s and the budget cannot carry the scales or a peeled gradient; the sentence says how many rows would.
    """
    domain, loss = sparse_domain(problem, recipe), problem.loss
    if not isinstance(loss, Loss) or loss.smoothness is None:
        raise refuse("loss", recipe, "a smooth loss of predictions", loss)
    scaled = isinstance(loss, ResidualLoss)
    _carry_scales(practice, problem, privacy, scaled)
    solver = PreparedThresholding(
        loss=loss,
        domain=domain,
        n=problem.n,
        bits=peeling_bits(problem.n),
        intercept=problem.intercept,
        target=target_preparation(problem, privacy, TARGET / 2) if scaled else None,
        features=wide_preparation(problem, privacy, FEATURES),
        entries=practice.entries,
        steps=practice.steps,
        step_size=practice.step_size / loss.smoothness,
    )
    steps = assemble(_drafts(solver), privacy, solver.bits)
    _carry_peeling(practice, steps, problem, privacy, domain.sparsity)
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=steps,
        sources=(("shares, thresholds, steps, step_size", "chosen on synthetic development data"),),
    )


def _carry_scales(practice: Practice, problem: Problem, privacy: Privacy, scaled: bool) -> None:
    noise = CountNoise.of(privacy)
    if scaled and (problem.scales is None or problem.scales.target is None):
        cell = math.sqrt(2.0) * noise.of_one(TARGET / 2) / problem.n
        carry("A private scale of the target", cell, SCALE_NOISE, problem, privacy)
    cell = math.sqrt(2.0) * noise.of_one(LEVELS / practice.steps) / problem.n
    carry("A private level of the slopes", cell, LEVEL_NOISE, problem, privacy)


def _carry_peeling(
    practice: Practice, steps: tuple[Step, ...], problem: Problem, privacy: Privacy, sparsity: int
) -> None:
    least = min(step.multiplier for step in steps if step.name == "peeling")
    coefficient = practice.step_size * 2.0 * practice.entries.reach * least / problem.n
    odds = math.sqrt(sparsity) * (1.0 + math.log(problem.d / sparsity))
    carry("A peeled gradient", coefficient * odds, PEELING_NOISE, problem, privacy)


def _drafts(solver: PreparedThresholding) -> list[Draft]:
    """Return the steps in the order in which the solver asks; gradients get shares that grow with their number."""
    d, count = solver.domain.dimension, solver.steps
    drafts = [] if solver.target is None else target_drafts(solver.target, TARGET / 2, TARGET / 2)
    drafts += wide_drafts(solver.features, d, FEATURES)
    left = 1.0 - sum(draft.share for draft in drafts) - LEVELS - LENGTHS - CHOICE
    picks = min(d, solver.domain.sparsity) + solver.intercept
    for step in range(count):
        share = left * (step + 1) / (count * (count + 1) / 2)
        drafts += [
            Draft("slope level", Octaves, CELLS, LEVELS / count),
            Draft("peeling", Shifted, d + solver.intercept, share, picks=picks, peeled=True),
            Draft("step length", Octaves, HIGH - LOW, LENGTHS / count),
        ]
    return [*drafts, Draft("choice", Clamped, count + 1, CHOICE, picks=1)]
