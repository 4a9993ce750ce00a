"""Lowy 2026, Algorithms 6 and 7: the exponential mechanism over the ball of the first stage, on a grid. A reference."""

import math

from tailguard._validate import refuse
from tailguard.losses.base import Loss
from tailguard.mechanisms import NoisyMax
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.localisation import BITS, SOURCES, arcs, predicted
from tailguard.recipes.prediction import THEOREM_UNIT
from tailguard.recipes.two_stages import output_phases, output_step
from tailguard.solvers.net import Net
from tailguard.solvers.output_phases import OutputPhase, PotentialPhases
from tailguard.statistics.potential import Potential
from tailguard.theory import lowy

__all__ = ["RECIPE", "paper_regression"]

NAME = "approximate_exponential"

MOST_DIMENSIONS = 3

SHARE = 0.25
"""Part of ε that the paper gives to the ideal exponential mechanism; the sampler's error gets another quarter."""

SIDES = {1: 257, 2: 33, 3: 17}
"""Points along an axis of the net. The law that is sampled is about as wide as the ball (Proposition F.5: 620 of 600
units), so that finer nets change nothing."""


def paper_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 1 with Algorithm 7, sampled exactly on a net.

    The paper samples a continuous law approximately, by a chain of random length; a chain that has not converged is not
    purely private. On a net the sampler is exact, and the half of the budget that pays for its error stays unspent.

    Notes
    -----
    *Guarantee.* The noise is the printed one: 12·C/(λmε) in the first stage, ε/4 for the pick. `verify` finds 0.418·ε
    spent.
    """
    owner, d = f"{NAME} with parameters='paper'", problem.domain.dimension
    if d > MOST_DIMENSIONS:
        raise refuse("domain", owner, f"of at most {MOST_DIMENSIONS} dimensions", problem.domain)
    if not isinstance(problem.loss, Loss) or problem.loss.smoothness is None:
        raise refuse("loss", owner, "a convex loss of predictions with a bounded second derivative", problem.loss)
    found = arcs(problem, privacy, NAME)
    phases = output_phases(problem, privacy, found)
    net = Net(SIDES[d], 1.0)
    solver = PotentialPhases(problem.loss, problem.domain, problem.n, problem.d, BITS, phases, net)
    steps = (
        step
        for phase in phases
        for step in (
            output_step("localisation", problem, privacy, phase),
            _net_step(solver.points, privacy, phase),
        )
    )
    return Plan(
        recipe=NAME,
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=tuple(steps),
        sources=(
            *SOURCES,
            ("radius", "Lowy 2026, Algorithm 2, ζ = 3"),
            ("noise", "Lowy 2026, Algorithms 2 and 7"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=predicted(lowy.approximate_exponential_risk, problem, privacy),
    )


def _net_step(points: int, privacy: Privacy, phase: OutputPhase) -> Step:
    """Return J picks of ε/4 each: Gumbel noise of 2 ÷ (ε/4) sensitivities, rounded up."""
    mechanism = NoisyMax()
    sensitivity = Potential.sensitivity_of(mechanism.norm, points, BITS, 1)
    multiplier = math.nextafter(2.0 / (SHARE * privacy.epsilon), math.inf)
    return Step(
        "net",
        Potential.kind,
        points,
        BITS,
        1,
        sensitivity,
        mechanism,
        multiplier,
        phase.repetitions,
        phase.blocks,
        phase.first,
    )


RECIPE = Recipe(
    name=NAME,
    source="Lowy 2026, Algorithms 1, 2, 6 and 7",
    summary="Pure privacy in up to three dimensions: a pick from a net around a noisy minimiser, by the clipped loss.",
    planners={("regression", "paper"): paper_regression},
)
