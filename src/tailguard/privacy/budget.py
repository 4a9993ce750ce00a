"""The budget: what a user promises to the people in the data."""

from dataclasses import dataclass

from tailguard._validate import real

__all__ = ["Privacy"]


@dataclass(frozen=True)
class Privacy:
    """(ε, δ)-differential privacy for replacing one record; δ = 0 is pure.

    Parameters
    ----------
    epsilon : float
        ε > 0.
    delta : float, default=0.0
        0 ≤ δ < 1. Zero asks for pure ε-differential privacy.

    Examples
    --------
    >>> Privacy(epsilon=1.0, delta=1e-6).pure
    False
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", real("epsilon", self.epsilon, "Privacy", above=0.0))
        object.__setattr__(self, "delta", real("delta", self.delta, "Privacy", at_least=0.0, below=1.0))

    @property
    def pure(self) -> bool:
        """Whether δ = 0."""
        return self.delta == 0.0

    def __str__(self) -> str:
        return f"ε = {self.epsilon:.6g}, δ = {self.delta:.3g}"
