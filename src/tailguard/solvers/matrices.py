"""Released matrices that are mostly noise: held in range, shrunk, made positive, inverted."""

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["TINY", "Matrix", "Number", "held", "inverted", "multiple", "positive", "share_of", "shrunk"]

Matrix: TypeAlias = NDArray[np.float64]

FLOOR = 0.05
"""Least eigenvalue that is believed, as a part of the mean one."""

GATE = 2.0
"""Squares of noise in all entries of a matrix add up to no more than expected and so many deviations."""

TINY, LARGEST = 1e-60, 1e60
"""Where numbers end: no released matrix of unit scale comes near."""


class Number(NamedTuple):
    """What is known of a number: a value and its deviation."""

    value: float
    deviation: float

    @property
    def relative(self) -> float:
        """The deviation as a part of the value; huge where that is not positive."""
        return self.deviation / max(self.value, TINY)

    def __and__(self, other: "Number") -> "Number":
        """Return what two independent sources say together, weighted by their inverse variances."""
        own, others = max(self.deviation**2, TINY), max(other.deviation**2, TINY)
        value = (others * self.value + own * other.value) / (own + others)
        return Number(value, math.sqrt(own * others / (own + others)))


def share_of(matrix: Matrix, shape: Matrix, noise: float) -> Number:
    """Return the multiple of a shape that fits a matrix best whose entries have this noise."""
    size = max(float(np.sum(shape * shape)), TINY)
    return Number(float(np.sum(matrix * shape)) / size, noise / math.sqrt(size))


def held(matrix: Matrix) -> Matrix:
    """Return the matrix with entries whose squares and inverses are floats, whatever was released."""
    return np.asarray(np.clip(np.nan_to_num(matrix), -LARGEST, LARGEST))


def shrunk(matrix: Matrix, target: Matrix, noise: float, gate: float = GATE) -> Matrix:
    """Return a positive-part James-Stein estimate between a noisy matrix and its target."""
    apart = matrix - target
    entries = np.count_nonzero(np.triu(apart))
    explained = entries + gate * math.sqrt(2.0 * entries)
    kept = 1.0 - explained * noise**2 / max(float(np.sum(apart**2)), TINY)
    return np.asarray(target + max(kept, 0.0) * apart)


def multiple(matrix: Matrix, shape: Matrix) -> Matrix:
    """Return the multiple of a shape that fits the matrix best."""
    return max(float(np.sum(matrix * shape) / max(np.sum(shape * shape), TINY)), 0.0) * shape


def inverted(bread: Matrix) -> Matrix:
    """Return the inverse with eigenvalues held above a part of the mean one; a dropped column has no part in it."""
    kept = np.flatnonzero(np.diag(bread))
    values, vectors = np.linalg.eigh(bread[np.ix_(kept, kept)])
    values = np.maximum(values, max(FLOOR * float(values.sum()) / max(kept.size, 1), TINY))
    inverse = np.zeros_like(bread)
    inverse[np.ix_(kept, kept)] = (vectors / values) @ vectors.T
    return inverse


def positive(matrix: Matrix) -> Matrix:
    """Return the nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
