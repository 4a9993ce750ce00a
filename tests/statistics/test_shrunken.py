"""Shrunken sums against plain floats, the loops against their twins, and the papers' bounds."""

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.losses import Squared
from tailguard.statistics import Clamped, Gradient, Rows, Shrunken, View, coordinate_kernels, smoothing
from tailguard.statistics.arrays import frozen
from tests.support import neighbours, twins

WIDTHS = pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 50, 100])


@pytest.fixture(autouse=True)
def _silence():
    with np.errstate(all="ignore"):
        yield


def _rows(d, m=300):
    X, y = neighbours.records(View(d), (1.0, 2.0), m, np.random.default_rng(d))
    return frozen(X), y


@WIDTHS
def test_add_shrunken(d):
    rows, slope = _rows(d)
    share = coordinate_kernels.shares(slope, 0.5)
    np.testing.assert_array_equal(share, twins.shares(slope, 0.5))
    made = coordinate_kernels.add_shrunken(rows, share, 1e9, 2.0**30)
    np.testing.assert_array_equal(made, twins.add_shrunken(rows, share, 1e9, 2.0**30))
    assert np.any(made)


@WIDTHS
@pytest.mark.parametrize("beta", [0.1, 100.0])
def test_add_smoothed(d, beta):
    rows, slope = _rows(d)
    arguments = (
        rows,
        twins.scaling_factors(slope, 1e-2),
        smoothing.table(beta),
        2.0**30 / smoothing.bound(beta),
        2.0**30,
    )
    made = coordinate_kernels.add_smoothed(*arguments)
    np.testing.assert_array_equal(made, twins.add_smoothed(*arguments))
    assert np.any(made)


def test_the_value_is_the_sum_of_shrunken_products():
    rng = np.random.default_rng(8)
    X, y, point = rng.standard_t(2, (5000, 6)), rng.standard_t(2, 5000), rng.standard_normal(6)
    statistic = Shrunken(Gradient(View(6), Squared(), point), 0.8, 0.6, 40)
    expected = (np.clip(X @ point - y, -0.6, 0.6)[:, np.newaxis] * np.clip(X, -0.8, 0.8)).sum(axis=0)
    np.testing.assert_allclose(statistic.kernel()(X, y) * statistic.unit, expected, atol=5000 * statistic.unit)
    wide = Shrunken(Gradient(View(6), Squared(), point), 1e4, 1e4, 40)
    np.testing.assert_allclose(wide.kernel()(X, y) * wide.unit, ((X @ point - y)[:, None] * X).sum(axis=0), atol=1.0)


def test_what_is_no_number_contributes_nothing_where_it_is_none():
    chunk = np.array([[np.nan, 1.0, -np.inf, -1e308]])
    rows = Shrunken(Rows(View(4)), 1.0, 1.0, 10)
    assert rows.kernel()(chunk, None).tolist() == [0, 1024, 0, -1024]
    sloped = Shrunken(Gradient(View(2), Squared(), np.zeros(2)), 1e-100, 1e-100, 10)
    for target in (np.nan, np.inf, -np.inf):
        assert not np.any(sloped.kernel()(np.ones((1, 2)), np.array([target])))
    assert sloped.kernel()(np.array([[1e300, -1e300]]), np.array([-1e300])).tolist() == [1024, -1024]


def test_a_product_is_bounded_factor_by_factor():
    """A huge feature does not make up for a tiny residual, as it does when the product is clamped."""
    field = Gradient(View(1), Squared(), np.zeros(1))
    X, y = np.array([[1e6]]), np.array([-1e-6])
    clamped, shrunken = Clamped(field, 1.0, 30), Shrunken(field, 1.0, 1.0, 30)
    assert clamped.kernel()(X, y)[0] * clamped.unit == pytest.approx(1.0)
    assert shrunken.kernel()(X, y)[0] * shrunken.unit == pytest.approx(1e-6, abs=2e-9)


@pytest.mark.parametrize(("s", "paper"), [(1, 4.0), (9, 8.0), (25, 12.0)])
def test_the_sensitivity_of_the_third_algorithm_of_hu_is_tight(s, paper):
    """2K²(√s + 1) at K = 1: reached off the support of w by records that agree with w and not with t."""
    point = np.append(np.full(s, 1 / np.sqrt(s)), 0.0)
    field = Gradient(View(s + 1, limit=1.0, target_limit=1.0), Squared(), point)
    statistic = Shrunken(field, 1.0, np.sqrt(s) + 1.0, 30)
    assert statistic.sensitivity("linf") * statistic.unit == pytest.approx(paper)
    ends = [np.append(np.full(s, 9.0), end)[np.newaxis] for end in (-9.0, 9.0)]
    sums = [statistic.kernel()(X, np.array([-9.0]))[-1] for X in ends]
    assert (sums[1] - sums[0]) * statistic.unit == pytest.approx(paper)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("threshold", lambda: Shrunken(Rows(View(1)), 0.0, 1.0, 30)),
        ("limit", lambda: Shrunken(Rows(View(1)), 1.0, np.inf, 30)),
        ("bits", lambda: Shrunken(Rows(View(1)), 1.0, 1.0, 0)),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(name, make):
    with pytest.raises(ParameterError, match=rf"^The '{name}' parameter of Shrunken must be .*\. Got .* instead\.$"):
        make()
