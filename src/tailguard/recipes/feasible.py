"""Refusals: what the budget cannot carry is said before any record is read, with what would."""

import math

from tailguard.errors import BudgetError
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.solvers.oracles import MeanOracle

__all__ = ["FEATURES", "TooFewRowsError", "carry", "carry_groups", "round_up"]


FEATURES = "features"


class TooFewRowsError(BudgetError):
    """The budget cannot carry something at this n; `rows` would do, or fewer of something else."""

    what: str
    rows: int
    fewer: str

    @classmethod
    def of(
        cls,
        what: str,
        rows: int,
        problem: Problem,
        privacy: Privacy,
        epsilon: float | None = None,
        fewer: str = FEATURES,
        pure: bool = False,
    ) -> "TooFewRowsError":
        """Return the refusal, with its sentence.

        An `epsilon` that would do is infinite if none is worth naming; `pure` says that δ = 0 would.
        """
        ways = [f"about {rows} rows"]
        if epsilon is None or epsilon < math.inf:
            ways.append("a larger ε" if epsilon is None else f"ε of about {epsilon:g}")
        if fewer and (fewer != FEATURES or problem.d > 1):
            ways.append(f"fewer {fewer}")
        if pure:
            ways.append("δ = 0")
        refusal = cls(
            f"{what} cannot be carried by n = {problem.n} rows and d = {problem.d} features at {privacy}; "
            f"it needs {', '.join(ways[:-1])}{' or ' * (len(ways) > 1)}{ways[-1]}."
        )
        refusal.what, refusal.rows, refusal.fewer = what, rows, fewer
        return refusal


def carry(what: str, noise: float, limit: float, problem: Problem, privacy: Privacy, fewer: str = FEATURES) -> None:
    """Raise `TooFewRowsError` when a relative noise, which falls like 1/n, exceeds its limit.

    Parameters
    ----------
    what : str
        What the noise would spoil, for the sentence.
    noise, limit : float
        Noise as a share of n, and the largest share that leaves something to see.
    problem, privacy : Problem, Privacy
        The public facts.
    fewer : str, default="features"
        What else there could be less of; "" where that would not do.
    """
    if noise > limit:
        rows = math.ceil(round_up(problem.n * noise / limit))
        raise TooFewRowsError.of(what, rows, problem, privacy, fewer=fewer)


def carry_groups(oracle: MeanOracle, size: int, problem: Problem, privacy: Privacy) -> None:
    """Raise `TooFewRowsError` when a block of `size` records leaves a group of the oracle without any."""
    carry(f"A mean of {oracle.fewest} groups", oracle.fewest / max(size, 1), 1.0, problem, privacy)


def round_up(number: float) -> float:
    """Round up to two digits."""
    digits = 1 - math.floor(math.log10(number))
    return math.ceil(round(number * 10.0**digits, 6)) / 10.0**digits
