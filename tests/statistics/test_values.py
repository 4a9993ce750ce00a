"""What the integers are worth: values × unit against the formulas in plain floats, and the parameters' rules."""

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.losses import Squared
from tailguard.statistics import (
    Below,
    Cells,
    Clamped,
    Clipped,
    Columns,
    Gradient,
    Gram,
    Octaves,
    Rows,
    Truncated,
    View,
    Weighted,
)
from tests.support.sentences import sentence

RNG = np.random.default_rng(8)
N, D = 5000, 6
X = RNG.standard_t(2, (N, D))
Y = RNG.standard_t(2, N)
W = RNG.standard_normal(D)
FIELD = Gradient(View(D), Squared(), W)
SLOPES = X @ W - Y
V = SLOPES[:, np.newaxis] * X
NORMS = np.linalg.norm(X, axis=1)


def _value(statistic):
    return statistic.kernel()(X, Y) * statistic.unit


def _close(statistic, exact):
    """Rounding moves each of N contributions by half a grid step, and shortening by about √dimension steps."""
    slack = N * (1 + np.sqrt(statistic.dimension)) * statistic.unit
    np.testing.assert_allclose(_value(statistic), exact, rtol=1e-9, atol=slack)


def test_clipped():
    weights = np.minimum(1.0, 1.5 / np.linalg.norm(V, axis=1))
    _close(Clipped(FIELD, 1.5, 40), (weights[:, np.newaxis] * V).sum(axis=0))
    _close(Clipped(FIELD, 1e9, 40), V.sum(axis=0))


def test_clamped_and_truncated():
    _close(Clamped(FIELD, 0.8, 40), np.clip(V, -0.8, 0.8).sum(axis=0))
    _close(Truncated(FIELD, 0.8, 40), np.where(np.abs(V) <= 0.8, V, 0.0).sum(axis=0))


def test_weighted():
    weights = np.minimum(1.0, 2.0 / NORMS) * np.clip(SLOPES, -0.6, 0.6)
    _close(Weighted(FIELD, 2.0, 0.6, 40), (weights[:, np.newaxis] * X).sum(axis=0))


def test_below():
    edges = np.linspace(-1.0, 1.0, D)
    np.testing.assert_array_equal(_value(Below(Columns(View(D)), edges, 30)), (edges >= X).sum(axis=0))


def test_octaves():
    statistic = Octaves(Columns(View(D)), -3, 2, 2, 25)
    edges = np.concatenate([[0.0], statistic.edges[1:-1], [np.inf]])
    exact = [np.histogram(np.abs(X[:, j]), edges)[0] for j in range(D)]
    np.testing.assert_array_equal(_value(statistic).reshape(D, statistic.cells), exact)
    np.testing.assert_allclose(statistic.edges[[0, 1, -1]], [2.0**-3, 2.0**-2.5, 4.0])


def test_cells():
    edges, folded = np.tile([-1.0, 0.0, 0.5, np.inf], (D, 1)), np.arange(D) % 2 == 1
    statistic = Cells(Columns(View(D)), edges, folded, 25)
    numbers = np.where(folded, np.abs(X), X)
    exact = [np.histogram(numbers[:, j], [-np.inf, -1.0, 0.0, 0.5, np.inf])[0] for j in range(D)]
    np.testing.assert_array_equal(_value(statistic).reshape(D, 5), np.column_stack([exact, np.zeros(D)]))
    lost = statistic.kernel()(np.full((3, D), np.nan), None)
    assert not lost.any()
    far = statistic.kernel()(np.full((1, D), np.inf), None).reshape(D, 5) >> 25
    assert np.all(far == [0, 0, 0, 0, 1])


def test_cells_of_several_histograms_of_a_scalar():
    edges, folded = np.array([[-1.0, 1.0], [-0.5, 1.5], [0.0, np.inf]]), np.arange(3 * D) % 2 == 1
    statistic = Cells(Columns(View(D)), np.tile(edges, (D, 1)), folded, 25)
    for part, counts in enumerate(_value(statistic).reshape(3 * D, 3)):
        numbers = np.abs(X[:, part // 3]) if folded[part] else X[:, part // 3]
        first, last = edges[part % 3]
        assert counts.tolist() == [
            (numbers < first).sum(),
            ((first <= numbers) & (numbers < last)).sum(),
            (numbers >= last).sum(),
        ]
    assert statistic.sensitivity("l2") == pytest.approx(2.0**25 * np.sqrt(6 * D))
    assert statistic.sensitivity("l1") == 2.0**25 * 6 * D


def test_gram():
    statistic = Gram(View(D, intercept=True), 2.5, 40)
    Z = np.column_stack([X, np.ones(N)])
    Z *= np.minimum(1.0, 2.5 / np.linalg.norm(Z, axis=1, keepdims=True))
    np.testing.assert_allclose(statistic.matrix(_value(statistic)), Z.T @ Z, rtol=1e-9, atol=1e-7)
    triangle = np.arange(statistic.dimension, dtype=float)
    np.testing.assert_allclose(np.linalg.norm(statistic.matrix(triangle)), np.linalg.norm(triangle))


@pytest.mark.parametrize("threshold", [1e-120, 1e120])
def test_extreme_thresholds(threshold):
    for statistic in (Clipped(FIELD, threshold, 40), Clamped(FIELD, threshold, 40)):
        largest = np.abs(statistic.kernel()(X, Y)).max()
        assert largest > 2**40 if threshold < 1 else largest == 0


def test_a_finite_slope_is_clipped_in_its_own_direction_even_if_the_product_overflows():
    field = Gradient(View(2), Squared(), np.zeros(2))
    far = np.array([[3e149, -4e149]])
    sums = Clipped(field, 1.0, 30).kernel()(far, np.array([-1e300]))
    np.testing.assert_allclose(sums / 2**30, [0.6, -0.8], rtol=1e-8)
    sums = Clamped(field, 1.0, 30).kernel()(far, np.array([1e300]))
    np.testing.assert_array_equal(sums, [-(2**30), 2**30])


def test_entries_that_are_no_number_spare_the_other_coordinates_of_a_coordinatewise_sum():
    chunk = np.array([[np.nan, 1.0, -np.inf]])
    for kind in (Clamped, Truncated):
        np.testing.assert_array_equal(kind(Rows(View(3)), 1.0, 10).kernel()(chunk, None), [0, 1024, 0])
    np.testing.assert_array_equal(Clipped(Rows(View(3)), 1.0, 10).kernel()(chunk, None), [0, 0, 0])


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("threshold", lambda: Clipped(FIELD, 0.0, 30)),
        ("threshold", lambda: Truncated(FIELD, 1e121, 30)),
        ("threshold", lambda: Clamped(FIELD, np.nan, 30)),
        ("radius", lambda: Weighted(FIELD, -1.0, 1.0, 30)),
        ("limit", lambda: Weighted(FIELD, 1.0, np.inf, 30)),
        ("radius", lambda: Gram(View(2), 0.0, 30)),
        ("bits", lambda: Clipped(FIELD, 1.0, 41)),
        ("bits", lambda: Clipped(Rows(View(65)), 1.0, 3)),
        ("bits", lambda: Gram(View(100), 1.0, 6)),
        ("bits", lambda: Below(Columns(View(1)), [0.0], 0)),
        ("edges", lambda: Below(Columns(View(2)), [0.0], 30)),
        ("edges", lambda: Below(Columns(View(1)), [np.nan], 30)),
        ("edges", lambda: Cells(Columns(View(2)), [[0.0, 1.0]], np.array([True, False]), 30)),
        ("edges", lambda: Cells(Columns(View(1)), [[1.0, 0.0]], np.array([True]), 30)),
        ("edges", lambda: Cells(Columns(View(1)), [[np.nan]], np.array([True]), 30)),
        ("folded", lambda: Cells(Columns(View(1)), [[0.0]], np.array([1]), 30)),
        ("low", lambda: Octaves(Columns(View(1)), -1023, 0, 1, 30)),
        ("high", lambda: Octaves(Columns(View(1)), 3, 3, 1, 30)),
        ("substeps", lambda: Octaves(Columns(View(1)), 0, 3, 0, 30)),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(name, make):
    with pytest.raises(ParameterError, match=rf"^The '{name}' parameter of \w+ must be .*\. Got .* instead\.$"):
        make()


def test_the_sentence_about_a_grid_that_is_too_coarse():
    rule = "such that 4**bits is at least the dimension 65"
    with pytest.raises(ParameterError, match=sentence("bits", "Clipped", rule, "3")):
        Clipped(Rows(View(65)), 1.0, 3)
