"""Lowy 2026, Algorithm 5: the exponential mechanism on a public net, scored by the clipped gradient mapping."""

import math

from tailguard._validate import refuse
from tailguard.domains.box import Box
from tailguard.domains.l2_ball import L2Ball
from tailguard.errors import BudgetError
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.localisation import BITS, SOURCES, Arc, arcs, predicted
from tailguard.recipes.net_search import plan_search
from tailguard.recipes.prediction import THEOREM_UNIT
from tailguard.solvers.mapping_phases import MappingPhase, MappingPhases
from tailguard.solvers.net import Net
from tailguard.statistics.gradient_mapping import GradientMapping, Region
from tailguard.theory import lowy

__all__ = ["RECIPE", "net_radius", "paper_regression"]

NAME = "gradient_mapping"

MOST_DIMENSIONS = 3
"""Beyond, a net has too many points."""

MOST_WORK = 4e9
"""Pairs of a point and a record that may be scored: some minutes."""


def net_radius(m: int, d: int, epsilon: float, clip: float, ridge: float, smoothness: float) -> float:
    """Return η = Cd/(εm(λ + H)) of Theorem E.1."""
    return clip * d / (epsilon * m * (ridge + smoothness))


def paper_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 1 with Algorithm 5 and the numbers of Theorem E.1.

    γ = 1/(λ + H) with the problem's smoothness H, which is assumed for every record: a wrong H costs accuracy alone.
    The net covers the ball of radius C/λ around a phase's centre, where the minimiser of the clipped problem lies, and
    not all of W.

    Raises
    ------
    BudgetError
        When the nets have too many points; the sentence says how many pairs of a point and a record there would be.
    """
    owner, domain = f"{NAME} with parameters='paper'", problem.domain
    if not isinstance(domain, Box | L2Ball) or domain.dimension > MOST_DIMENSIONS:
        raise refuse("domain", owner, f"a Box or an L2Ball of at most {MOST_DIMENSIONS} dimensions", domain)
    found = arcs(problem, privacy, NAME)
    phases = tuple(_phase(problem, privacy, domain, arc) for arc in found)
    work = sum(phase.net.count(domain.dimension) * sum(phase.sizes(problem.n)) for phase in phases)
    if work > MOST_WORK:
        raise BudgetError(
            f"{owner} would score {work:.2g} pairs of a point and a record, more than {MOST_WORK:g}: "
            "fewer records, a smaller domain or practical parameters take less."
        )
    drafts = [
        Draft(
            name="net",
            statistic=GradientMapping,
            dimension=phase.net.count(domain.dimension),
            share=1.0,
            count=phase.repetitions,
            picks=1,
            blocks=phase.blocks,
            first=phase.first,
        )
        for phase in phases
    ]
    return Plan(
        recipe=NAME,
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=MappingPhases(problem.loss, domain, problem.n, problem.d, BITS, phases),
        steps=assemble(drafts, privacy, BITS),
        sources=(
            *SOURCES,
            ("step, net", "Lowy 2026, Theorem E.1, with the problem's smoothness; the net of radius C/λ"),
            ("noise", "Lowy 2026, Algorithm 5 line 5"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=predicted(lowy.gradient_mapping_risk, problem, privacy),
    )


def _phase(problem: Problem, privacy: Privacy, domain: Region, arc: Arc) -> MappingPhase:
    k, H = domain.dimension, problem.smoothness
    radius = net_radius(arc.size, k, privacy.epsilon, arc.clip, arc.ridge, H)
    reach = min(arc.clip / arc.ridge, 2.0 * domain.norm_bound("l2"))
    # Half of a cell's diagonal is at most the radius of the net.
    side = min(2**20, math.ceil(math.sqrt(k) * reach / radius) + 1)
    return MappingPhase(
        repetitions=arc.repetitions,
        blocks=arc.blocks,
        first=arc.first,
        ridge=arc.ridge,
        clip=arc.clip,
        net=Net(max(2, side), reach),
        step=1.0 / (arc.ridge + H),
    )


RECIPE = Recipe(
    name=NAME,
    source="Lowy 2026, Algorithms 1 and 5",
    summary="Pure privacy in up to three dimensions: private picks from nets of candidates by their clipped gradients.",
    planners={("regression", "paper"): paper_regression, ("regression", "practical"): plan_search},
)
