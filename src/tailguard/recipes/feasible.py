"""Refusals: what the budget cannot carry is said before any record is read, with what would."""

import math

from tailguard.errors import BudgetError
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.solvers.oracles import MeanOracle

__all__ = ["TooFewRowsError", "carry", "carry_groups"]


class TooFewRowsError(BudgetError):
    """The budget cannot carry something at this n; `rows` would do."""

    what: str
    rows: int

    @classmethod
    def of(cls, what: str, rows: int, problem: Problem, privacy: Privacy) -> "TooFewRowsError":
        """Return the refusal, with its sentence."""
        refusal = cls(
            f"{what} cannot be carried by n = {problem.n} rows and d = {problem.d} features at {privacy}; "
            f"it needs about {rows} rows, a larger epsilon or fewer features."
        )
        refusal.what, refusal.rows = what, rows
        return refusal


def carry(what: str, noise: float, limit: float, problem: Problem, privacy: Privacy) -> None:
    """Raise `TooFewRowsError` when a relative noise, which falls like 1/n, exceeds its limit.

    Parameters
    ----------
    what : str
        What the noise would spoil, for the sentence.
    noise, limit : float
        Noise as a share of n, and the largest share that leaves something to see.
    problem, privacy : Problem, Privacy
        The public facts.
    """
    if noise > limit:
        raise TooFewRowsError.of(what, _round_up(problem.n * noise / limit), problem, privacy)


def carry_groups(oracle: MeanOracle, size: int, problem: Problem, privacy: Privacy) -> None:
    """Raise `TooFewRowsError` when a block of `size` records leaves a group of the oracle without any."""
    carry(f"A mean of {oracle.fewest} groups", oracle.fewest / max(size, 1), 1.0, problem, privacy)


def _round_up(number: float) -> int:
    """Round up to two digits."""
    power = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return int(math.ceil(number / power) * power)
