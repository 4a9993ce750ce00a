"""What a mechanism is: one exact integer vector in, one released integer vector and the event performed out.

Statistics arrive as integers on a public grid, so that noise can be added exactly. Randomness is an argument;
no generator is made here.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tailguard.privacy.events import Event

__all__ = ["Evaluable", "FloatVector", "IntVector", "Mechanism", "Norm", "R", "Randomness"]

Norm = Literal["l1", "l2", "linf", "tilt"]
"""How the sensitivity is measured. "tilt" is no norm of the value: it is the ℓ2 length of the change in the linear term
that makes a given point the minimiser, and only objective perturbation knows what to do with it."""

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)
IntVector = NDArray[np.int64]
FloatVector = NDArray[np.float64]


class Randomness(Protocol):
    """The only source of noise. Implementations live in `tailguard.run.randomness`."""

    @property
    def label(self) -> str:
        """How the noise is made, in words that are printed with every release."""

    @property
    def private(self) -> bool:
        """Whether a release made with it protects anyone; False for a seeded simulation."""

    def gaussian(self, value: IntVector, scale: float) -> IntVector:
        """Return `value` plus independent discrete Gaussian noise of the given scale (σ)."""

    def laplace(self, value: IntVector, scale: float) -> IntVector:
        """Return `value` plus independent discrete Laplace noise of the given scale."""

    def top(self, value: IntVector, scale: float, count: int) -> IntVector:
        """Return the indices of the `count` largest entries after Gumbel noise of this scale, best first."""

    def uniform(self, size: int) -> FloatVector:
        """Return uniform numbers in the open interval (0, 1), for mechanisms that are sampled in floats."""


class Evaluable(Protocol[R_contra]):
    """What a mechanism is given to release: a function of records whose fields are public."""

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""

    def evaluate(self, source: R_contra, /) -> IntVector:
        """Return the exact integers over these records."""


class Mechanism(ABC):
    """A differentially private release of an integer vector.

    Subclasses are frozen dataclasses of public numbers. They raise on public numbers alone, never on a value.
    """

    norm: ClassVar[Norm]
    selects: ClassVar[bool] = False
    """Whether indices are released instead of a noisy value."""

    @property
    def exact(self) -> bool:
        """Whether the noise is sampled exactly wherever the randomness is."""
        return True

    def noise(self, multiplier: float, sensitivity: float, dimension: int) -> float:  # noqa: ARG002
        """Return the scale of the noise in each released coordinate, in grid units; a public number."""
        return multiplier * sensitivity

    @abstractmethod
    def event(self, multiplier: float, sensitivity: float, dimension: int) -> Event:
        """Return the event that `release` will report, from public numbers alone.

        Parameters
        ----------
        multiplier : float
            Noise scale ÷ sensitivity. The event's own multiplier can be larger by a rounding, never smaller.
        sensitivity : float
            In `norm`, in grid units.
        dimension : int
            Length of the vector that will be released from.
        """

    def perform(
        self, statistic: Evaluable[R], source: R, sensitivity: float, multiplier: float, randomness: Randomness
    ) -> tuple[IntVector, Event]:
        """Evaluate a statistic on records and release it; mechanisms that work inside an objective do it their own way.

        Parameters
        ----------
        statistic : Statistic
            What to release; its fields are public or released.
        source : Source
            The records. The only argument that holds private information.
        sensitivity, multiplier, randomness
            As for `release`.
        """
        return self.release(statistic.evaluate(source), sensitivity, multiplier, randomness)

    @abstractmethod
    def release(
        self, value: IntVector, sensitivity: float, multiplier: float, randomness: Randomness
    ) -> tuple[IntVector, Event]:
        """Return the released integers and the event performed, computed from the noise scale really used.

        Parameters
        ----------
        value : int64 vector
            Exact value of a statistic, in grid units. The only argument that holds private information.
        sensitivity : float
            Its sensitivity in `norm`, in grid units, as the statistic declares it.
        multiplier : float
            Noise scale ÷ sensitivity.
        randomness : Randomness
            Source of the noise.
        """
