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


def test_a_column_without_a_product_is_dropped_too():
    rows = View(3, basis=[[0.0, 0.0], [1.0, 2.0], [0.0, 0.0]], intercept=True).rows(X)
    np.testing.assert_array_equal(rows, [[2.0, 4.0, 1.0], [-4.0, -8.0, 1.0]])


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


def test_columns_and_basis_select_and_combine_scaled_rows():
    rng = np.random.default_rng(5)
    X, centre, scale = rng.normal(size=(20, 7)), rng.normal(size=7), rng.uniform(0.5, 2.0, 7)
    scale[2] = np.inf
    whole = View(7, centre=centre, scale=scale, limit=0.8).rows(X)
    assert np.abs(whole).max() <= 0.8
    some = View(7, centre=centre, scale=scale, limit=0.8, columns=[5, 0], intercept=True)
    np.testing.assert_array_equal(some.rows(X), np.column_stack([whole[:, [5, 0]], np.ones(20)]))
    basis = rng.normal(size=(7, 3))
    combined = View(7, centre=centre, scale=scale, limit=0.8, basis=basis, intercept=True)
    np.testing.assert_allclose(combined.rows(X)[:, :3], whole @ basis, atol=1e-13)
    assert (some.dimension, combined.dimension) == (3, 4)
    # A row's numbers depend on the row alone, not on the chunk that it comes in.
    np.testing.assert_array_equal(combined.rows(X[7:8])[0], combined.rows(X)[7])


def test_shrinking_keeps_missing_values_and_bounds_the_rest():
    view = View(3, limit=2.0, target_limit=1.5)
    np.testing.assert_array_equal(view.rows(np.array([[np.inf, np.nan, -7.0]])), [[2.0, np.nan, -2.0]])
    np.testing.assert_array_equal(view.target(np.array([9.0, np.nan, -np.inf])), [1.5, np.nan, -1.5])


@pytest.mark.parametrize(
    ("name", "value"),
    [("columns", [2]), ("columns", [-1]), ("columns", [0.5]), ("basis", np.ones((3, 1))), ("limit", 0.0)],
)
def test_a_wrong_selection_is_refused(name, value):
    with pytest.raises(ParameterError, match=f"'{name}' parameter of View"):
        View(2, **{name: value})
