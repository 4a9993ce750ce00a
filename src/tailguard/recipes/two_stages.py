"""What the two recipes with a first stage of output perturbation share (Lowy 2026, Algorithm 2)."""

from tailguard.mechanisms import L2Laplace
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.localisation import BITS, Arc
from tailguard.solvers.output_phases import OutputPhase
from tailguard.statistics.base import Statistic
from tailguard.statistics.minimiser import Minimiser

__all__ = ["TAIL", "output_phase", "output_step"]

TAIL = 3.0
"""ζ: the first stage's ball misses the minimiser with probability e^(−ζ)."""

NOISE = 12.0
"""Printed noise of either stage, in units of C/(λmε): 6C/(λm) for the budget ε/2."""


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
