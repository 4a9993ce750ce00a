"""Views: what a record becomes, and which numbers a view may be made of."""

import numpy as np
import pytest

from tailguard.errors import DataError, ParameterError
from tailguard.statistics import View

X = np.array([[1.0, 2.0, np.nan], [np.inf, -4.0, 7.0]])


def test_the_identity_is_the_chunk_itself():
    rows = View(3).rows(X)
    assert np.shares_memory(rows, X)
    assert not rows.flags.writeable
    assert X.flags.writeable


@pytest.mark.parametrize("chunk", [np.asfortranarray(X), X.astype(np.float32), X[:, ::-1][:, ::-1]])
def test_rows_are_c_ordered_float64(chunk):
    rows = View(3).rows(chunk)
    assert rows.flags.c_contiguous
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, X)


def test_centre_scale_and_intercept():
    view = View(3, centre=[1.0, 0.0, 5.0], scale=[2.0, 4.0, 0.5], intercept=True)
    assert view.dimension == 4
    np.testing.assert_array_equal(view.rows(X), [[0.0, 0.5, np.nan, 1.0], [np.inf, -1.0, 4.0, 1.0]])


def test_an_infinite_scale_drops_the_column_even_where_it_is_no_number():
    rows = View(3, scale=[np.inf, 1.0, np.inf]).rows(X)
    np.testing.assert_array_equal(rows, [[0.0, 2.0, 0.0], [0.0, -4.0, 0.0]])


def test_target():
    y = np.array([1.0, np.nan])
    assert np.shares_memory(View(1).target(y), y)
    np.testing.assert_array_equal(View(1, target_centre=3.0, target_scale=4.0).target(y), [-0.5, np.nan])
    with pytest.raises(DataError, match="needs records with a target"):
        View(1).target(None)


def test_the_view_keeps_its_own_copy_of_the_numbers():
    centre = np.zeros(2)
    view = View(2, centre=centre)
    centre[:] = 9.0
    np.testing.assert_array_equal(view.rows(np.ones((1, 2))), [[1.0, 1.0]])


def test_chunks_of_another_width_are_refused():
    with pytest.raises(DataError, match="must have 2 columns"):
        View(2).rows(X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("centre", [1.0]),
        ("centre", [1.0, np.nan]),
        ("centre", [1.0, np.inf]),
        ("centre", "ab"),
        ("scale", [1.0, 0.0]),
        ("scale", [1.0, -1.0]),
        ("scale", [1.0, np.nan]),
        ("scale", [[1.0, 1.0]]),
        ("target_centre", np.inf),
        ("target_scale", 0.0),
        ("target_scale", np.inf),
        ("dimension_in", 0),
    ],
)
def test_other_numbers_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of View must be"):
        View(**{"dimension_in": 2, name: value})
