"""Passes over rows, dense or sparse: the one place where it is decided which loop runs. Both give the same numbers."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np

from tailguard.statistics import coordinate_kernels, kernels, sparse_kernels
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector
from tailguard.statistics.sparse_rows import AnyRows, SparseRows

__all__ = [
    "add_clamped",
    "add_rows",
    "add_shrunken",
    "add_smoothed",
    "add_truncated",
    "count_below",
    "dense",
    "dots",
    "dots_and_squares",
    "guarded",
    "largest",
    "octave_counts",
    "squares",
    "width",
]

P = ParamSpec("P")
R = TypeVar("R")


def _either(
    dense: Callable[Concatenate[FloatMatrix, P], R], sparse: Callable[..., R]
) -> Callable[Concatenate[AnyRows, P], R]:
    """Return the pass that takes both kinds of rows."""

    def either(rows: AnyRows, /, *arguments: P.args, **named: P.kwargs) -> R:
        if isinstance(rows, SparseRows):
            return sparse(*rows.arrays, *arguments, **named)
        return dense(rows, *arguments, **named)

    return either


def _largest(rows: FloatMatrix) -> FloatVector:
    """Return max |row_j| of each row, NaN where an entry is."""
    return np.asarray(np.abs(rows).max(axis=1, initial=0.0))


def _octave_counts(scalars: FloatMatrix, low: int, cells: int, cuts: IntVector) -> IntVector:
    """Return for each column a histogram of magnitudes."""
    return kernels.octave_counts(scalars.view(np.int64), low, cells, cuts)


dots = _either(kernels.dots, sparse_kernels.dots)
squares = _either(kernels.squares, sparse_kernels.squares)
dots_and_squares = _either(kernels.dots_and_squares, sparse_kernels.dots_and_squares)
largest = _either(_largest, sparse_kernels.largest)
add_rows = _either(kernels.add_rows, sparse_kernels.add_rows)
add_clamped = _either(kernels.add_clamped, sparse_kernels.add_clamped)
add_truncated = _either(kernels.add_truncated, sparse_kernels.add_truncated)
add_shrunken = _either(coordinate_kernels.add_shrunken, sparse_kernels.add_shrunken)
add_smoothed = _either(coordinate_kernels.add_smoothed, sparse_kernels.add_smoothed)
count_below = _either(kernels.count_below, sparse_kernels.count_below)
octave_counts = _either(_octave_counts, sparse_kernels.octave_counts)


def dense(rows: AnyRows) -> FloatMatrix:
    """Return the rows as an array."""
    return rows.dense() if isinstance(rows, SparseRows) else rows


def width(X: AnyRows, made_dense: int) -> int:
    """Return how many floats of a record are in memory at once, where a sparse one has `made_dense` of them."""
    return made_dense if isinstance(X, SparseRows) else X.shape[1]


def guarded(X: AnyRows) -> AnyRows:
    """Return the same records, read-only: for all blocks of a chunk at once, see `frozen`."""
    if isinstance(X, SparseRows):
        return X
    view = X.view()
    view.flags.writeable = False
    return view
