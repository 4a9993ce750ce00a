"""What the two recipes with a first stage of output perturbation share (Lowy 2026, Algorithm 2)."""

import math
from itertools import takewhile

import numpy as np

from tailguard.certified import Objective, resolution
from tailguard.domains.ball_intersection import BallIntersection
from tailguard.errors import BudgetError
from tailguard.losses.base import Loss
from tailguard.mechanisms import L2Laplace
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.localisation import BITS, Arc
from tailguard.solvers.output_phases import OutputPhase
from tailguard.statistics.base import Statistic
from tailguard.statistics.minimiser import TOLERANCE, Minimiser

__all__ = ["TAIL", "output_phase", "output_phases", "output_step"]

TAIL = 3.0
"""ζ: the first stage's ball misses the minimiser with probability e^(−ζ)."""

CAUTION = 4.0
"""How much finer than asked for a minimiser must be resolved at a centre of the largest norm."""

NOISE = 12.0
"""Printed noise of either stage, in units of C/(λmε): 6C/(λm) for the budget ε/2."""


def output_phases(
    problem: Problem, privacy: Privacy, found: tuple[Arc, ...], *, certified: bool = True
) -> tuple[OutputPhase, ...]:
    """Return the phases, up to the first whose minimisers double precision cannot tell apart, if they are certified.

    Late phases are regularised so strongly, and move so little, that a hundredth of C/(λm) is below the rounding of the
    coefficients.

    Raises
    ------
    BudgetError
        When not even the first phase can be resolved.
    """
    phases = [output_phase(problem, privacy, arc) for arc in found]
    sharp = list(takewhile(lambda phase: _resolved(problem, phase), phases)) if certified else phases
    if not sharp:
        raise BudgetError(
            "Double precision cannot resolve the minimisers of the first phase at this moment and domain."
        )
    return tuple(sharp)


def _resolved(problem: Problem, phase: OutputPhase) -> bool:
    """Whether minimisers over W and over W_0 can be certified, wherever in the domain the centres are."""
    domain, d, size = problem.domain, problem.domain.dimension, max(phase.sizes(problem.n))
    assert isinstance(problem.loss, Loss)
    far = np.full(d, domain.norm_bound("l2") / math.sqrt(d))
    empty = Objective(np.zeros((1, d)), np.zeros(1), problem.loss, phase.clip, phase.ridge, far, size)
    ball = BallIntersection(domain, tuple(domain.linear_minimiser(-far).tolist()), phase.radius)
    tolerance = TOLERANCE * phase.clip / (phase.ridge * size)
    return all(CAUTION * resolution(empty, region) <= tolerance for region in (domain, ball))


def output_phase(problem: Problem, privacy: Privacy, arc: Arc) -> OutputPhase:
    """Return a phase with W_0 of radius 100·ζ·C·d/(λm·ε/2), which is 600·Cd/(λmε); the paper calls it the diameter."""
    d = problem.domain.dimension
    radius = 200.0 * TAIL * arc.clip * d / (arc.ridge * arc.size * privacy.epsilon)
    return OutputPhase(arc.repetitions, arc.blocks, arc.first, arc.ridge, arc.clip, radius)


def output_step(
    name: str, problem: Problem, privacy: Privacy, phase: OutputPhase, kind: type[Statistic] = Minimiser
) -> Step:
    """Return J releases of a minimiser with the printed noise, of scale 12·C/(λmε), on the blocks of a phase."""
    mechanism, d = L2Laplace(), problem.domain.dimension
    sensitivity = kind.sensitivity_of(mechanism.norm, d, BITS, 1)
    multiplier = NOISE / privacy.epsilon * 2.0**BITS / sensitivity
    return Step(
        name,
        kind.kind,
        d,
        BITS,
        1,
        sensitivity,
        mechanism,
        multiplier,
        phase.repetitions,
        phase.blocks,
        phase.first,
    )
