"""Histograms with wide cells, each shifted by a narrow one: what a number's place is worth where counts are faint.

A record moves every cell that it may be in by the same, however near the other one is: between neighbouring octaves as
much as between ends of the grid. That is too much to ask where only the rough place is wanted. Several histograms of
wide cells, each shifted by one narrow cell, have as many counts in all; numbers that spread over a few narrow cells are
together in most of the wide ones, and the place of the shift tells the rest. A Gaussian column has 2.4 times as much
evidence in three shifted histograms of three octaves as in one of single octaves, with the same budget and Gaussian
noise; with Laplace noise, which grows with the number of histograms and not its root, it would have less.
"""

from functools import cache

import numpy as np

from tailguard.statistics.arrays import FloatMatrix, FloatVector

__all__ = ["SHIFTS", "gathered", "shifted_edges"]

SHIFTS = 3
"""Number of histograms, and of narrow cells in a wide one."""


def shifted_edges(edges: FloatVector) -> FloatMatrix:
    """Return edges of the wide cells, a row for each histogram, of edges of narrow cells.

    Examples
    --------
    >>> import numpy as np
    >>> shifted_edges(np.arange(6.0))
    array([[0., 3.],
           [1., 4.],
           [2., 5.]])
    """
    rows = -(-edges.size // SHIFTS)
    padded = np.append(edges, np.full(SHIFTS * rows - edges.size, np.inf))
    return np.ascontiguousarray(padded.reshape(rows, SHIFTS).T)


@cache
def gathered(cells: int) -> FloatMatrix:
    """Return the matrix that makes counts of wide cells, one histogram after the other, of counts of narrow cells."""
    wide = shifted_edges(np.arange(1.0, cells))
    places = [np.searchsorted(row, np.arange(cells), side="right") for row in wide]
    size = wide.shape[1] + 1
    matrix = np.zeros((SHIFTS * size, cells))
    for shift, place in enumerate(places):
        matrix[shift * size + place, np.arange(cells)] = 1.0
    matrix.setflags(write=False)
    return matrix
