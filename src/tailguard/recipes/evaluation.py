"""Evaluations of a fixed model, planned: which shares its measures get, and what cannot be carried."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tailguard.domains.whole_space import WholeSpace
from tailguard.losses.hinge import Hinge
from tailguard.losses.logistic import Logistic
from tailguard.losses.squared import Squared
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import planned
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.solvers.base import Range, Solver
from tailguard.solvers.evaluation import ClassEvaluation, Judge, NumberEvaluation
from tailguard.solvers.feature_range import FeatureRange
from tailguard.solvers.picked import HIGHEST, MAGNITUDES, SIGNED
from tailguard.statistics.base import grid_bits
from tailguard.statistics.capped import Capped
from tailguard.statistics.coordinatewise import Clamped
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.ranks import Ranks
from tailguard.statistics.signed_ranks import SignedRanks

__all__ = ["Judged", "plan_evaluation"]

NAME = "evaluation"

CAP = 6.0
"""A log-loss counts at most that much: a probability below 0.25 % of what came true counts as 0.25 %."""

CELLS = ((5e3, 16), (5e4, 32), (math.inf, 64))
"""Cells of the scores of a class, up to a limit of n × budget: few have little noise, many have few ties."""

LIMIT, COARSE = 0.3, 0.1
"""Largest share of the records that a picked rank may be off, and largest noise of a mean of errors."""

DOUBT = 1e-4
"""Probability with which a pick may be farther off than it is taken to be: a size from the empty end of the grid."""

ORDER = 4.0
"""Tails are carried on from the picked size as those of a law with so many moments."""


@dataclass(frozen=True)
class Judged:
    """What is evaluated: a fixed linear model, and what its values are.

    Parameters
    ----------
    coefficients : tuple of float
        Of the model, one for each column; public.
    intercept : float
        The same.
    target : {"numbers", "log-odds", "margins", "mistakes"}
        What a prediction is: that of a number, log-odds of two classes, a value above 0 for the second class, or above
        0 where one of several classes is predicted as it is.
    within : (float, float) or None, default=None
        The range in which predicted numbers or log-odds are held, if there is one; public.
    rows : FeatureRange or None, default=None
        Where rows end for the model, if they do; public.
    """

    coefficients: tuple[float, ...]
    intercept: float
    target: str
    within: Range | None = None
    rows: FeatureRange | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """What can be measured."""
        if self.target == "numbers":
            return ("r2", "median_absolute_error")
        known = {"log-odds": ("error_rate", "log_loss", "auc"), "margins": ("error_rate", "auc")}
        return known.get(self.target, ("error_rate",))


def plan_evaluation(model: Judged, n: int, privacy: Privacy, measures: Sequence[str], level: float) -> Plan:
    """Return the plan that measures a fixed model on n records.

    Raises
    ------
    BudgetError
        When n and the budget cannot carry it; the sentence says how many rows would.
    """
    loss = Squared() if model.target == "numbers" else Logistic() if model.target == "log-odds" else Hinge(0.1)
    d = len(model.coefficients)

    def planner(problem: Problem, privacy: Privacy) -> Plan:
        return _plan(model, problem, privacy, measures, level)

    return planned(planner, Problem(loss, WholeSpace(d), n, d), privacy)


def _plan(model: Judged, problem: Problem, privacy: Privacy, measures: Sequence[str], level: float) -> Plan:
    numbers, bits = model.target == "numbers", grid_bits(problem.n)
    cells = next(cells for limit, cells in CELLS if problem.n < limit * CountNoise.of(privacy).multiplier)
    drafts = _number_drafts(measures) if numbers else _class_drafts(measures, cells)
    steps = assemble(drafts, privacy, bits)
    _check(steps, problem, privacy)
    judge = Judge(model.coefficients, model.intercept, problem.n, bits, level, privacy.pure, model.within, model.rows)
    return Plan(
        recipe=NAME,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=_numbers(judge, steps, measures) if numbers else _classes(judge, measures, cells),
        steps=steps,
        sources=(("shares, cells", "chosen on synthetic development data"),),
    )


def _number_drafts(measures: Sequence[str]) -> list[Draft]:
    drafts = []
    if "r2" in measures:
        drafts += [
            Draft("target centre", SignedRanks, SIGNED, 0.10, picks=1),
            Draft("target spread", Ranks, MAGNITUDES, 0.12, picks=1),
            Draft("target mean", Clamped, 1, 0.08),
            Draft("error level", Ranks, MAGNITUDES, 0.14, picks=1),
            Draft("errors", Capped, 2, 0.36),
            Draft("error spread", Capped, 1, 0.07),
        ]
    if "median_absolute_error" in measures:
        drafts.append(Draft("median error", Ranks, MAGNITUDES, 0.18, 3, picks=1))
    return drafts


def _class_drafts(measures: Sequence[str], cells: int) -> list[Draft]:
    drafts = []
    if "log_loss" in measures or "error_rate" in measures:
        drafts.append(Draft("errors", Capped, 4 if "log_loss" in measures else 2, 0.40))
    if "auc" in measures:
        drafts += [
            Draft("score centre", SignedRanks, SIGNED, 0.10, picks=1),
            Draft("score scale", Ranks, MAGNITUDES, 0.10, picks=1),
            Draft("scores", Octaves, 2 * cells, 0.44),
        ]
    return drafts


def _rank(step: Step, n: int, doubt: float = DOUBT) -> float:
    """Return how far a picked rank may be off, as a share of the records."""
    return step.multiplier * math.log(step.dimension / doubt) / n


def _noise(step: Step, n: int) -> float:
    """Return the noise of a mean of numbers between 0 and 1."""
    root = math.sqrt(2.0) if type(step.mechanism).__name__ == "Laplace" else 1.0
    return root * step.mechanism.noise(step.multiplier, step.sensitivity, step.dimension) / 2.0**step.bits / n


def _check(steps: Sequence[Step], problem: Problem, privacy: Privacy) -> None:
    for step in steps:
        if step.mechanism.selects:
            carry("A private quantile of errors", _rank(step, problem.n), LIMIT, problem, privacy, "measures")
        else:
            carry("A private mean of errors", _noise(step, problem.n), COARSE, problem, privacy, "measures")


def _numbers(judge: Judge, steps: Sequence[Step], measures: Sequence[str]) -> Solver:
    named = {step.name: step for step in steps}
    tail, widening, ranks = 0.5, 1.0, None
    if "r2" in measures:
        noise = _noise(named["errors"], judge.n)
        rank = max(_rank(named[name], judge.n) for name in ("target spread", "error level"))
        tail = min(max(rank, noise, 1.0 - HIGHEST), LIMIT)
        widening = max(tail / noise, 1.0) ** (1.0 / ORDER)
    if "median_absolute_error" in measures:
        sampling = judge.width * 0.5 / math.sqrt(judge.n)
        ranks = min(sampling + _rank(named["median error"], judge.n, 1.0 - judge.level), 0.49)
    return NumberEvaluation(judge, tail, widening, ranks, "r2" in measures)


def _classes(judge: Judge, measures: Sequence[str], cells: int) -> Solver:
    cap = CAP if "log_loss" in measures else None
    return ClassEvaluation(judge, "error_rate" in measures, cap, cells if "auc" in measures else 0)
