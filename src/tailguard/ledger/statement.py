"""What a session has paid for and what is left, at one moment."""

from dataclasses import asdict, dataclass
from typing import Any

from tailguard.ledger.charge import Charge
from tailguard.privacy.budget import Privacy
from tailguard.privacy.filter import Cost, Filter

__all__ = ["Statement"]


@dataclass(frozen=True)
class Statement:
    """A ledger as it was read.

    Attributes
    ----------
    identity : str
        Random name of the ledger, made with it.
    created : str
        When, UTC.
    privacy : Privacy
        The total budget.
    slack : float
        Part of δ for costs with a δ of their own.
    n_rows : int or None
        Public number of rows of the data set; None while nobody has said it.
    charges : tuple of Charge
        In the order in which they were written.
    """

    identity: str
    created: str
    privacy: Privacy
    slack: float
    n_rows: int | None
    charges: tuple[Charge, ...]

    @property
    def filter(self) -> Filter:
        """The rule that decides about the next charge."""
        return Filter(self.privacy, self.slack)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """What was spent, charge by charge."""
        return tuple(charge.cost for charge in self.charges)

    @property
    def spent(self) -> float:
        """ε that was spent, at the δ of the budget."""
        return self.filter.epsilon(self.costs)

    @property
    def unit(self) -> str:
        """What is added up: ρ for an approximate budget, ε for a pure one."""
        return "ε" if self.privacy.pure else "ρ"

    @property
    def limit(self) -> float:
        """How much of it there is."""
        return self.privacy.epsilon if self.privacy.pure else self.filter.rho

    @property
    def left(self) -> float:
        """How much of it is left."""
        return self.filter.left(self.costs)

    def next_epsilon(self, fits: int = 1) -> float:
        """Return the largest ε, at the session's δ, with which that many more fits by Gaussian noise can be made."""
        return self.filter.next_epsilon(self.costs, fits)

    def document(self) -> dict[str, Any]:
        """Return everything as JSON values; an infinite cost is null."""
        return {
            "format": "tailguard ledger 1",
            "identity": self.identity,
            "created": self.created,
            "budget": {**asdict(self.privacy), "slack": self.slack},
            "n_rows": self.n_rows,
            "spent": {"epsilon": self.spent, "delta": self.privacy.delta},
            "left": {"unit": "epsilon" if self.privacy.pure else "rho", "value": self.left, "of": self.limit},
            "next_epsilon": self.next_epsilon(),
            "charges": [_plain(charge) for charge in self.charges],
        }


def _plain(charge: Charge) -> dict[str, Any]:
    return {name: None if value == float("inf") else value for name, value in asdict(charge).items()}
