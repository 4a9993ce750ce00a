"""The phases of Lowy 2026, Algorithm 1, in numbers: blocks, regularisers, clip levels."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tailguard._validate import integer, refuse
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import bounded_radius, moment_of
from tailguard.recipes.feasible import carry
from tailguard.recipes.prediction import theorem_error
from tailguard.recipes.truncated_mean import FAILURE
from tailguard.theory import Setting

__all__ = ["BITS", "RATIO", "SOURCES", "Arc", "arcs", "base_ridge", "extension_clip", "predicted", "repetitions"]

RATIO = 32.0
"""How much more each phase is regularised than the one before."""

LEAST = 16
"""Fewest records of a block. Algorithm 1 has ⌈log₂ n⌉ phases, of which the last ones have none."""

BITS = 24
"""Of the grid: a clip level is 2²⁴ steps, and what is far beyond it, in late phases, still has a number."""


@dataclass(frozen=True)
class Arc:
    """A phase in numbers: its blocks, the size of the smallest, its regulariser and clip level."""

    repetitions: int
    blocks: int
    first: int
    size: int
    ridge: float
    clip: float


def repetitions(n: int) -> int:
    """Return J = ⌈ln(T/δ)⌉ with T = ⌈log₂ n⌉ and δ = 0.05; the paper hides a constant."""
    return max(1, math.ceil(math.log(max(1, (n - 1).bit_length()) / FAILURE)))


def extension_clip(m: int, d: int, epsilon: float, order: float, bound: float) -> float:
    """Return C = G_k·(mε/d)^(1/k), Proposition 2.5 and Theorem E.1."""
    return float(bound * (m * epsilon / d) ** (1.0 / order))


def base_ridge(n: int, d: int, epsilon: float, order: float, bound: float, diameter: float) -> float:
    """Return λ_1 = (G_k·(d/(nε))^κ + G_k/√n)/D, for which λ_1·D² is the rate; Theorem 2.1 only says that one exists."""
    return float(bound * ((d / (n * epsilon)) ** (1.0 - 1.0 / order) + 1.0 / math.sqrt(n)) / diameter)


def arcs(
    problem: Problem,
    privacy: Privacy,
    owner: str,
    *,
    phases: int | None = None,
    blocks: int | None = None,
    ridge: float | None = None,
) -> tuple[Arc, ...]:
    """Return the phases t = 1, 2, … on ⌊n/2^t⌋ records in J blocks, as long as a block has enough of them.

    Parameters
    ----------
    problem, privacy : Problem, Privacy
        The public facts.
    owner : str
        The recipe.
    phases : int, optional
        T, whatever the size of a block then is.
    blocks : int, optional
        J; `repetitions` if left out.
    ridge : float, optional
        λ_1; `base_ridge` if left out.

    Raises
    ------
    ParameterError
        For an intercept, an unbounded domain, or without a moment of the norm.
    TooFewRowsError
        When not even the first phase has blocks of `LEAST` records with mε ≥ d.
    """
    where = f"{owner} with parameters='paper'"
    if problem.intercept:
        raise refuse("intercept", where, "False: the theorems have none", True)
    if not problem.loss.convex:
        raise refuse("loss", where, "convex", problem.loss)
    order, bound = moment_of(problem, owner, low=2.0, high=math.inf, of=("norm",))
    n, d, epsilon = problem.n, problem.domain.dimension, privacy.epsilon
    J = repetitions(n) if blocks is None else integer("blocks", blocks, where)
    least = max(LEAST, math.ceil(d / epsilon)) if phases is None else 2 ** (integer("phases", phases, where) - 1)
    carry(f"A phase of {J} blocks", 2.0 * J * least / n, 1.0, problem, privacy)
    most = (n // (J * least)).bit_length() - 1 if phases is None else phases
    first = base_ridge(n, d, epsilon, order, bound, 2.0 * bounded_radius(problem, owner)) if ridge is None else ridge
    found = []
    for t in range(1, most + 1):
        size = n // (2**t * J)
        clip = extension_clip(size, d, epsilon, order, bound)
        found.append(Arc(J, 2**t * J, (2**t - 2) * J, size, RATIO ** (t - 1) * first, clip))
    return tuple(found)


SOURCES = (
    ("phases", f"Lowy 2026, Algorithm 1, δ = {FAILURE:g}, as long as a block has {LEAST} records and can be resolved"),
    ("ridge", "Lowy 2026, Theorem 2.1, constants 1"),
    ("clip", "Lowy 2026, Proposition 2.5"),
)
"""Where the numbers of the phases come from."""


def predicted(theorem: Callable[[Setting], float], problem: Problem, privacy: Privacy) -> float | None:
    """Return a theorem's bound, at most the trivial one G_k·D."""
    error = theorem_error(theorem, problem, privacy)
    if error is None or problem.moment is None or problem.moment.bound is None:
        return None
    return min(error, 2.0 * problem.domain.norm_bound("l2") * problem.moment.bound)
