"""Pure privacy by output perturbation in phases, one release each: the repaired localisation of Lowy 2026."""

import math

import numpy as np

from tailguard.certified import Objective
from tailguard.certified.fallback import resolution
from tailguard.errors import BudgetError
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.pure_fit import RESIDUAL, PureFit, pure_fit
from tailguard.solvers.localisation import Phase
from tailguard.solvers.output_fit import FARTHEST, OutputFit
from tailguard.solvers.perturbed_fit import widened
from tailguard.statistics.base import grid_bits
from tailguard.statistics.minimiser import TOLERANCE, Minimiser

__all__ = ["RECIPE", "plan_regression"]

NAME = "output_perturbation"

MOST_PHASES, SMALLEST = 5, 50
"""Number of phases, and fewest records of a block, beyond which there are fewer."""

UNBOUNDED, BOUNDED, CLASSES = 0.6, 0.7, 0.2
"""Usual curvature of the risk in private units: of residuals without and with a bound on the slopes, and of classes."""

STRENGTHS = np.geomspace(1e-4, 30.0, 400)
"""Regularisers that are tried."""


def plan_regression(problem: Problem, privacy: Privacy, repetitions: int = 1) -> Plan:
    """Return the plan of `OutputFit`.

    Parameters
    ----------
    problem, privacy : Problem, Privacy
        The public facts and the budget, with δ = 0.
    repetitions : int, default=1
        J, the number of answers of a phase, of which the one that most others are near to is kept. More of them make a
        bad answer rarer and a usual one worse.

    Raises
    ------
    BudgetError
        When n, d and ε cannot carry private units and a fit; the sentence says how many rows would.
    """
    found, bits = pure_fit(problem, privacy, NAME), grid_bits(problem.n)
    phases = _phases(found, repetitions)
    solutions = [
        Draft("solution", Minimiser, found.k, found.main, phase.repetitions, blocks=phase.blocks, first=phase.first)
        for phase in phases
    ]
    return Plan(
        recipe=NAME,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=OutputFit(
            loss=found.loss,
            domain=problem.domain,
            n=problem.n,
            d=problem.d,
            bits=bits,
            intercept=problem.intercept,
            units=found.units,
            width=found.width,
            curvature=found.curvature,
            phases=phases,
            ending=found.ending,
        ),
        steps=assemble([*found.before, *solutions, *found.after], privacy, bits),
        sources=(
            ("phases", "Lowy 2026, Algorithm 1, from small blocks to large ones"),
            ("ridge", "least sum of noise, sampling error and pull, for a model of length 1"),
            ("shares, clip, curvature", "chosen on synthetic development data"),
        ),
    )


def _phases(found: PureFit, repetitions: int) -> tuple[Phase, ...]:
    """Return phases on …, an eighth, a quarter and a half of the records, the first two on equally many.

    Their regularisers are those with which noise, sampling and the pull to the answer before them are least together,
    in units in which a usual row has length √k and a usual model length 1.
    """
    n = found.problem.n
    count = min(MOST_PHASES, max(1, math.floor(math.log2(max(n / (repetitions * SMALLEST), 1.0))) + 1))
    phases, error = [], 1.0
    for t in range(count):
        blocks = 2 ** (count - max(t, 1)) * repetitions if count > 1 else repetitions
        strength, error = _regulariser(found, n // blocks, error)
        phases.append(Phase(repetitions, blocks, repetitions if t else 0, strength, found.clip))
        _check_resolution(found, n // blocks, strength)
    return tuple(phases)


def _regulariser(found: PureFit, m: int, before: float) -> tuple[float, float]:
    """Return the best λ for m records, and the squared error that it leaves of one before."""
    k, clip = found.k, found.clip if found.units is not None else RESIDUAL
    # Independent Laplace noise of scale √k·2C/(λmε) in each coordinate, C = clip·√k.
    noise = math.sqrt(2.0) * k * 2.0 * clip * math.sqrt(k) / (max(m, 1) * found.main * found.privacy.epsilon)
    bend = (UNBOUNDED if found.loss.lipschitz is None else BOUNDED) if found.residual else CLASSES
    kept = STRENGTHS / (STRENGTHS + bend)
    errors = (noise / STRENGTHS) ** 2 + kept**2 * before + (1.0 - kept) ** 2 * k / max(m, 1)
    best = int(np.argmin(errors))
    return float(STRENGTHS[best]), float(errors[best])


def _check_resolution(found: PureFit, m: int, strength: float) -> None:
    """Refuse what floats cannot resolve at the farthest answer around which a phase may look."""
    k, loss = found.k, widened(found.loss, found.width)
    curvature = found.curvature * k * (loss.smoothness or 1.0)
    clip, far = found.clip * math.sqrt(k), np.full(k, FARTHEST / math.sqrt(k))
    empty = Objective(np.zeros((1, k)), np.zeros(1), loss, clip, strength, far, max(m, 1), curvature=curvature)
    if 2.0 * resolution(empty) > TOLERANCE * empty.length / max(m, 1):
        raise BudgetError(f"Double precision cannot resolve a regularised minimiser of n = {found.problem.n} rows.")


RECIPE = Recipe(
    name=NAME,
    source="Lowy 2026, Algorithms 1 and 2, with one release a phase",
    summary="Pure privacy by noisy minimisers of the clipped loss in phases, each around the answer before it.",
    planners={("regression", "practical"): plan_regression},
)
