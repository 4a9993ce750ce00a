"""What a domain is: a closed set W that coefficients must lie in, with its projection and linear minimiser.

A domain is a frozen dataclass of plain public numbers (int, float, tuples of them, other domains), so that it
can be compared, hashed and written down as its class name and fields. Its arguments are released or public
vectors, never records.
"""

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailguard._validate import choice, refuse

__all__ = ["LARGEST", "Domain", "FloatMatrix", "FloatVector", "in_units", "polar"]

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]

LARGEST = float(np.finfo(np.float64).max)


class Domain(ABC):
    """A closed set W ⊆ R^d.

    Every method accepts any vector of length d. An infinite coordinate, the trace of an overflow, counts as
    the largest float; NaN is refused.

    Attributes
    ----------
    dimension : int
        d, the number of coefficients.
    convex : bool
        Whether W is convex.
    """

    convex: ClassVar[bool] = True

    if TYPE_CHECKING:  # at run time a field or a property of the subclass, which a property here would hide

        @property
        def dimension(self) -> int:
            """d, the number of coefficients."""

    def project(self, point: ArrayLike) -> FloatVector:
        """Return argmin ‖w − point‖₂ over w ∈ W, as a new array that lies in W up to rounding."""
        with np.errstate(all="ignore"):
            return self._project(self._vector("point", point))

    def linear_minimiser(self, gradient: ArrayLike) -> FloatVector:
        """Return an element of argmin ⟨gradient, w⟩ over w ∈ W; refused where there is none."""
        with np.errstate(all="ignore"):
            direction = self._vector("gradient", gradient)
            return self._linear_minimiser(direction / (np.abs(direction).max() or 1.0))

    def vertices(self) -> FloatMatrix | None:
        """Return the vertices of W as rows, or None where there are infinitely many or too many to list."""
        return None

    def norm_bound(self, norm: Literal["l1", "l2"]) -> float:
        """Return sup ‖w‖ over w ∈ W in the given norm; inf where W is unbounded."""
        return self._l1_bound() if choice("norm", norm, "norm_bound", ("l1", "l2")) == "l1" else self._l2_bound()

    def contains(self, point: ArrayLike, tolerance: float = 1e-9) -> bool:
        """Whether `point` lies in W, up to `tolerance` times the largest ℓ2 norm in W."""
        vector = np.asarray(point, dtype=np.float64)
        if vector.shape != (self.dimension,) or not np.isfinite(vector).all():
            return False
        with np.errstate(all="ignore"):
            return bool(self._contains(vector, tolerance))

    @abstractmethod
    def _project(self, point: FloatVector) -> FloatVector:
        """Projection of a finite vector that may be returned or overwritten."""

    @abstractmethod
    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:
        """Linear minimiser for a gradient whose largest absolute entry is 1 or that is 0."""

    @abstractmethod
    def _l1_bound(self) -> float: ...

    @abstractmethod
    def _l2_bound(self) -> float: ...

    @abstractmethod
    def _contains(self, point: FloatVector, tolerance: float) -> bool: ...

    def _vector(self, name: str, value: ArrayLike) -> FloatVector:
        owner = type(self).__name__
        vector = np.asarray(value, dtype=np.float64)
        if vector.shape != (self.dimension,):
            raise refuse(name, owner, f"an array of shape ({self.dimension},)", vector.shape)
        if np.isnan(vector).any():
            raise refuse(name, owner, "free of NaN", math.nan)
        return np.clip(vector, -LARGEST, LARGEST)

    def _set(self, **fields: object) -> None:
        """Store checked fields; a frozen dataclass allows it only by this road."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)


def polar(vector: FloatVector) -> tuple[FloatVector, float]:
    """Return direction and length of a vector, without overflow on the way; (0, 0) for the zero vector."""
    scale = float(np.abs(vector).max())
    if scale == 0.0:
        return vector, 0.0
    scaled = vector / scale
    length = float(np.linalg.norm(scaled))
    return scaled / length, scale * length


def in_units(vector: FloatVector, unit: float, far: float) -> FloatVector:
    """Return vector/unit without overflow, shrunk along its direction where an entry would exceed `far`."""
    scale = float(np.abs(vector).max()) or 1.0
    ratio = np.float64(scale) / unit
    return (vector / scale) * min(float(ratio), far)
