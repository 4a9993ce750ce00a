"""A slope in n: medians of errors over seeds, a straight line through their logarithms, and how sure it is."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Curve", "sweep"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors by size (rows) and seed (columns)."""

    sizes: tuple[int, ...]
    errors: Array

    @property
    def medians(self) -> Array:
        return np.asarray(np.median(self.errors, axis=1))

    @property
    def slope(self) -> float:
        """The exponent of n in the median error, by least squares of logarithms."""
        return _slope(self.sizes, self.medians)

    @property
    def standard_error(self) -> float:
        """Bootstrap over seeds, each size for itself; 0 where the error does not depend on the seed."""
        rng = np.random.default_rng(0)
        shape = (300, *self.errors.shape)
        resampled = np.take_along_axis(self.errors[None], rng.integers(0, shape[2], shape), axis=2)
        return float(np.std([_slope(self.sizes, medians) for medians in np.median(resampled, axis=2)]))


def sweep(error: Callable[[int, int], float], sizes: tuple[int, ...], seeds: int, start: int = 100_000) -> Curve:
    """Return the errors of error(n, seed); every size has seeds of its own, so that the points are independent."""
    starts = [start + 1_000 * index for index in range(len(sizes))]
    rows = [[error(n, start + seed) for seed in range(seeds)] for n, start in zip(sizes, starts, strict=True)]
    return Curve(sizes, np.array(rows))


def _slope(sizes: tuple[int, ...], values: Array) -> float:
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
