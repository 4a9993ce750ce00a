"""Histograms of wide cells, each shifted by a narrow one."""

import numpy as np
import pytest
from scipy.special import ndtr

from tailguard.solvers.shifted import SHIFTS, gathered, shifted_edges


@pytest.mark.parametrize("cells", [2, 3, 10, 97, 128])
def test_wide_counts_are_sums_of_narrow_ones(cells):
    rng = np.random.default_rng(cells)
    edges = np.sort(rng.standard_normal(cells - 1))
    numbers = np.concatenate([rng.standard_normal(200), edges])
    narrow = np.bincount(np.searchsorted(edges, numbers, side="right"), minlength=cells)
    rows = shifted_edges(edges)
    size = rows.shape[1] + 1
    wide = [np.bincount(np.searchsorted(row, numbers, side="right"), minlength=size) for row in rows]
    np.testing.assert_array_equal(gathered(cells) @ narrow, np.concatenate(wide))


def test_every_narrow_cell_is_in_one_wide_cell_of_each_histogram_and_neighbours_share_all_but_one():
    wide = gathered(40)
    np.testing.assert_array_equal(wide.sum(axis=0), SHIFTS)
    shared = wide.T @ wide
    for distance in range(1, 10):
        np.testing.assert_array_equal(np.diag(shared, distance), max(SHIFTS - distance, 0))


@pytest.mark.parametrize("shift", [0.0, 0.25, 0.5, 0.75])
def test_a_gaussian_column_has_more_than_twice_as_much_evidence_with_the_same_budget(shift):
    """Noise variances grow with the number of histograms."""
    narrow = np.diff(2.0 * ndtr(np.exp2(np.arange(-20.0, 21.0) + shift)) - 1.0, prepend=0.0, append=1.0)
    wide = gathered(narrow.size) @ narrow
    assert 2.2 < (wide @ wide / SHIFTS) / (narrow @ narrow) < 2.6
