"""What the papers' three thresholding recipes share: domain, start, sparsity, steps and the printed noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailguard._validate import integer, real, refuse
from tailguard.domains.sparse import Sparse
from tailguard.errors import BudgetError
from tailguard.losses.squared_distance import SquaredDistance
from tailguard.mechanisms import LaplacePeeling
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.privacy.composition import epsilon
from tailguard.recipes.feasible import carry
from tailguard.solvers.entries import Entries
from tailguard.solvers.thresholding import HardThresholding
from tailguard.statistics.base import grid_bits
from tailguard.statistics.scores import Shifted

__all__ = ["FAILURE", "Schedule", "peeling_bits", "schedule", "sparse_domain", "thresholding_plan"]

FAILURE = 0.05
"""ζ or ξ, the failure probability for which the theorems' thresholds are set."""

CONTRACTION = 72.0
"""s ≥ 72(γ/μ)²s*, Hu et al. 2022, Theorem 7 and the proof of Tao et al. 2022, Theorem 10."""

MOST_BITS, ROOM = 32, 8
"""Fine enough for any noise, and room for the shift (m/η)·w above the sum."""


@dataclass(frozen=True)
class Schedule:
    """The numbers that the theorems share.

    Parameters
    ----------
    sparsity : int
        s.
    steps : int
        T, and as many disjoint blocks.
    step_size : float
        η.
    start : tuple of (int, float)
        Non-zero entries of w¹.
    """

    sparsity: int
    steps: int
    step_size: float
    start: tuple[tuple[int, float], ...]


def sparse_domain(problem: Problem, owner: str) -> Sparse:
    """Return the problem's domain, or raise what the recipe asks for."""
    if not isinstance(problem.domain, Sparse):
        raise refuse("domain", owner, "a Sparse domain", problem.domain)
    return problem.domain


def peeling_bits(n: int) -> int:
    """Return the bits of a peeled sum over n records."""
    return max(1, min(MOST_BITS, grid_bits(n) - ROOM))


def schedule(
    problem: Problem,
    owner: str,
    *,
    sparsity: int | None,
    steps: int | None,
    step_size: float | None,
    start: ArrayLike | None,
) -> Schedule:
    """Return the numbers that were given, and the theorems' where none were.

    These are s = ⌈72(γ/μ)²s*⌉ (at most d), T = ⌈(γ/μ)·ln n⌉, η = 2/(3γ) and w¹ = 0, with s* the domain's sparsity, γ
    the problem's smoothness and μ its strong convexity; a mean has γ = μ = 1. The theorems hide a constant in T; it is
    1 here.
    """
    owner = f"{owner} with parameters='paper'"
    domain = sparse_domain(problem, owner)
    if problem.intercept:
        raise refuse("intercept", owner, "False: the theorems have none", True)
    smooth, condition = _condition(problem, owner, needed=sparsity is None or steps is None)
    if sparsity is None:
        sparsity = min(problem.d, math.ceil(CONTRACTION * condition**2 * domain.sparsity))
    if steps is None:
        steps = max(1, math.ceil(condition * math.log(problem.n)))
    return Schedule(
        sparsity=integer("sparsity", sparsity, owner, at_least=domain.sparsity, at_most=problem.d),
        steps=integer("steps", steps, owner),
        step_size=real("step_size", 2.0 / (3.0 * smooth) if step_size is None else step_size, owner, above=0.0),
        start=_entries(start, problem.d, owner),
    )


def _condition(problem: Problem, owner: str, *, needed: bool) -> tuple[float, float]:
    """Return γ and γ/μ."""
    if isinstance(problem.loss, SquaredDistance):
        return 1.0, 1.0
    if needed and not 0.0 < problem.strong_convexity <= problem.smoothness:
        rule = "greater than 0 and at most the smoothness"
        raise refuse("strong_convexity", owner, rule, problem.strong_convexity)
    return problem.smoothness, problem.smoothness / (problem.strong_convexity or problem.smoothness)


def _entries(start: ArrayLike | None, d: int, owner: str) -> tuple[tuple[int, float], ...]:
    """Return the non-zero entries of a start; whether there are few enough is checked where they are used."""
    if start is None:
        return ()
    point = np.asarray(start, dtype=np.float64)
    if point.shape != (d,) or not np.all(np.isfinite(point)):
        raise refuse("start", owner, f"a vector of {d} finite numbers", np.shape(point))
    return tuple((int(index), float(point[index])) for index in np.flatnonzero(point))


def thresholding_plan(
    recipe: str,
    problem: Problem,
    privacy: Privacy,
    numbers: Schedule,
    entries: Entries,
    multiplier: float,
    *,
    ridge: float = 0.0,
    sources: Sequence[tuple[str, str]],
    predicted_error: float | None = None,
) -> Plan:
    """Return the plan of T peeled steps on disjoint blocks, with noise of multiplier × our own sensitivity.

    Raises
    ------
    BudgetError
        When the printed noise is not enough for the budget (far above ε = 1), or a block would be empty.
    """
    carry("A block of records for every step", numbers.steps / problem.n, 1.0, problem, privacy)
    step = _peeling_step(problem, numbers, multiplier)
    cost = epsilon(step.event, privacy.delta)
    if cost > privacy.epsilon:
        raise BudgetError(f"The printed noise of {recipe} is too little for {privacy}: it costs ε = {cost:.3g}.")
    solver = HardThresholding(
        loss=problem.loss,
        domain=sparse_domain(problem, recipe),
        n=problem.n,
        bits=step.bits,
        entries=entries,
        sparsity=numbers.sparsity,
        steps=numbers.steps,
        step_size=numbers.step_size,
        blocks=numbers.steps,
        start=numbers.start,
        ridge=ridge,
    )
    return Plan(
        recipe=recipe,
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=(step,),
        sources=tuple(sources),
        predicted_error=predicted_error,
    )


def _peeling_step(problem: Problem, numbers: Schedule, multiplier: float) -> Step:
    """Return T releases of the largest coordinates, each on a block of its own."""
    mechanism, bits = LaplacePeeling(numbers.sparsity), peeling_bits(problem.n)
    return Step(
        name="peeling",
        statistic=Shifted.kind,
        dimension=problem.d,
        bits=bits,
        parts=1,
        sensitivity=Shifted.sensitivity_of(mechanism.norm, problem.d, bits, 1),
        mechanism=mechanism,
        multiplier=multiplier,
        count=numbers.steps,
        blocks=numbers.steps,
    )
