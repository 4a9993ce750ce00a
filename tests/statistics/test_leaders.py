"""Which column of a record is the largest: cells, ties, what counts nowhere."""

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.statistics import Leaders, View


def counts(rows, **changes):
    rows = np.asarray(rows, dtype=float)
    statistic = Leaders(**{"view": View(rows.shape[1]), "low": 3, "step": 2, "cells": 3, "bits": 20, **changes})
    return (statistic.kernel()(rows, None) * statistic.unit).reshape(rows.shape[1], -1)


def test_a_record_counts_where_it_is_largest():
    rows = [[8.0, 7.9], [-31.0, 30.0], [1.0, 32.0], [3.0, -500.0], [np.inf, 1.0], [7.9, -7.9]]
    np.testing.assert_array_equal(counts(rows), [[2.0, 0.0, 1.0], [0.0, 1.0, 1.0]])


@pytest.mark.parametrize(("low", "step", "cells"), [(-1000, 1000, 9), (-1000, 1, 1000), (1000, 1, 1000), (3, 2, 3)])
def test_infinities_are_in_the_last_cell_whatever_the_cells(low, step, cells):
    found = counts([[-np.inf, 1.0], [1e308, np.inf]], low=low, step=step, cells=cells)
    assert np.all(found[:, -1] == 1.0)
    assert found.sum() == 2.0


def test_missing_and_small_records_count_nowhere():
    assert counts([[np.nan, 100.0], [0.0, 0.0], [5e-324, -1.0]]).sum() == 0.0


def test_rows_are_those_of_the_view():
    found = counts([[10.0, 10.0]], view=View(2, centre=[10.0, 0.0], scale=[0.1, 0.1]))
    np.testing.assert_array_equal(found, [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    "wrong", [{"low": 2000}, {"step": 0}, {"cells": 0}, {"bits": 0}, {"view": View(2, intercept=True)}]
)
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=f"The '{next(iter(wrong))}' parameter of Leaders"):
        counts([[1.0, 1.0]], **wrong)
