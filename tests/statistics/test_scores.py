"""Scores and shifts: what they mean, what they refuse, and that excluded coordinates are never picked."""

from dataclasses import dataclass

import numpy as np
import pytest

from tailguard import engines
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.errors import ParameterError
from tailguard.mechanisms import Peeling
from tailguard.run.randomness import Exact, Float, Simulation
from tailguard.statistics import (
    Catoni,
    Clamped,
    Clipped,
    Magnitudes,
    Opposed,
    Rows,
    Shifted,
    Shrunken,
    Signed,
    Truncated,
    Vertices,
    View,
    grid_bits,
    signed_coordinate,
)

RNG = np.random.default_rng(4)
N, D = 500, 6
X = RNG.standard_t(3, (N, D))
ROWS = Rows(View(D))
INNER = Clamped(ROWS, 1.5, 24)
SUM = np.clip(X, -1.5, 1.5).sum(axis=0)
SOURCE = Selection(engines.open(X), WHOLE)
SLACK = 1e-6 * N


def _value(statistic):
    return statistic.evaluate(SOURCE) * statistic.unit


@pytest.mark.parametrize(
    "inner",
    [INNER, Truncated(ROWS, 1.5, 24), Shrunken(ROWS, 1.5, 1.0, 24), Catoni(ROWS, 1.5, 24)],
    ids=lambda inner: inner.kind,
)
def test_scores_are_what_they_say(inner):
    g = inner.evaluate(SOURCE)
    np.testing.assert_array_equal(Opposed(inner).evaluate(SOURCE), -g)
    np.testing.assert_array_equal(Signed(inner).evaluate(SOURCE), [*-g, *g])
    np.testing.assert_array_equal(Magnitudes(inner).evaluate(SOURCE), np.abs(g))
    np.testing.assert_array_equal(Magnitudes(inner, [0, 3]).evaluate(SOURCE)[[1, 2, 4, 5]], np.abs(g)[[1, 2, 4, 5]])
    np.testing.assert_array_equal(Shifted(inner, np.zeros(D)).evaluate(SOURCE), g)


def test_the_best_signed_score_is_the_vertex_of_steepest_descent():
    best = int(np.argmax(Signed(INNER).evaluate(SOURCE)))
    coordinate, sign = signed_coordinate(best, D)
    vertex = np.zeros(D)
    vertex[coordinate] = sign
    assert vertex @ SUM == pytest.approx(-np.abs(SUM).max())
    np.testing.assert_allclose(_value(Signed(INNER))[best], -vertex @ SUM, atol=SLACK)


def test_vertex_scores_are_products_with_the_vertices():
    corners = RNG.standard_normal((40, D)) * 30.0
    statistic = Vertices(INNER, corners)
    assert (statistic.dimension, statistic.bits) == (40, 40)
    slack = np.abs(SUM).sum() * np.abs(corners).sum(axis=1).max() * 2.0**-16 + 200 * SLACK
    np.testing.assert_allclose(_value(statistic), -corners @ SUM, atol=slack)
    cross = np.vstack([7.0 * np.eye(D), -7.0 * np.eye(D)])
    np.testing.assert_allclose(_value(Vertices(INNER, cross)), 7.0 * _value(Signed(INNER)), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 3, 100, 3000])
def test_no_vertex_is_longer_than_its_grid(d):
    rng = np.random.default_rng(d)
    corners = np.vstack(
        [np.ones((1, d)), rng.uniform(-1, 1, (20, d)), rng.standard_cauchy((20, d)), np.full((1, d), 0.1)]
    )
    for scale in (1e-100, 0.1, 1.0, 3.0, 1e100):
        statistic = Vertices(Clamped(Rows(View(d)), 1.0, 24), scale * corners)
        assert np.abs(statistic._steps).sum(axis=1).max() <= 2**16
    assert np.abs(Vertices(Clamped(Rows(View(d)), 1.0, 24), corners[:1])._steps).sum() >= 2**16 - d


def test_a_shift_is_added_to_the_value():
    shift = np.linspace(-1e3, 1e3, D)
    np.testing.assert_allclose(_value(Shifted(INNER, shift)), SUM + shift, atol=SLACK)
    held = Shifted(INNER, [1e300, -1e300, 0.0, 0.0, 0.0, 0.0]).evaluate(SOURCE) - INNER.evaluate(SOURCE)
    assert held.tolist() == [2**61, -(2**61), 0, 0, 0, 0]


@dataclass
class Summed:
    """So many records that their sum is as large as it can be."""

    size: int
    integers: np.ndarray

    def total(self, kernel):
        return self.integers


@pytest.mark.parametrize("n", [1, 1000, 2**22, 10**9])
def test_no_shift_overflows_whatever_the_records_are(n):
    for fewer, most in ((0, 2**62 + 2**61), (1, 2**62)):
        bits = grid_bits(n) - fewer
        for sign in (-1, 1):
            largest = np.full(2, sign * n * 2**bits)
            shifted = Shifted(Clamped(Rows(View(2)), 1.0, bits), np.full(2, sign * 1e300)).evaluate(Summed(n, largest))
            assert shifted.tolist() == [sign * (n * 2**bits + 2**61)] * 2
            assert abs(int(shifted[0])) <= most


def test_peeling_sees_the_shifted_sum():
    shift = np.zeros(D)
    shift[2] = -2.0 * np.abs(SUM).max() - 1e3
    statistic = Shifted(INNER, shift)
    exact = statistic.evaluate(SOURCE)
    released, _ = Peeling(1).release(exact, statistic.sensitivity("linf"), 0.05, Simulation(0))
    assert np.flatnonzero(released).tolist() == [2]
    assert released[2] * statistic.unit == pytest.approx(SUM[2] + shift[2], abs=5.0)


class Extreme(Simulation):
    """The largest noise wherever a score is excluded, the smallest elsewhere."""

    def __init__(self, excluded, size):
        super().__init__(0)
        self._words = np.full(size, 2.0**-53)
        self._words[excluded] = 1 - 2.0**-53

    def uniform(self, size):
        return self._words


@pytest.mark.parametrize("power", [-10, 0, 20, 41, 50, 55])
def test_excluded_coordinates_are_never_picked_while_others_are_left(power):
    excluded = np.arange(0, 40, 2)
    inner = Clamped(Rows(View(40)), 1.0, 24)
    scores = Magnitudes(inner, excluded).evaluate(Selection(engines.open(RNG.standard_normal((30, 40))), WHOLE))
    assert set(scores[excluded].tolist()) == {-(2**62)}
    for source in (Exact(), Float(), Simulation(power + 10), Extreme(excluded, 40)):
        for _ in range(10):
            picked = source.top(scores, 2.0**power, 20)
            assert sorted(picked.tolist()) == list(range(1, 40, 2))
        assert set(source.top(scores, 2.0**power, 21)[:20].tolist()) == set(range(1, 40, 2))


@pytest.mark.parametrize(
    ("name", "owner", "make"),
    [
        ("inner", "Signed", lambda: Signed(Clipped(ROWS, 1.0, 24))),
        ("inner", "Magnitudes", lambda: Magnitudes(Signed(INNER))),
        ("inner", "Opposed", lambda: Opposed(None)),
        ("inner", "Vertices", lambda: Vertices(Clamped(ROWS, 1.0, 25), np.eye(D))),
        ("corners", "Vertices", lambda: Vertices(INNER, np.eye(D - 1))),
        ("corners", "Vertices", lambda: Vertices(INNER, np.ones(D))),
        ("corners", "Vertices", lambda: Vertices(INNER, np.zeros((2, D)))),
        ("corners", "Vertices", lambda: Vertices(INNER, np.full((2, D), np.nan))),
        ("excluded", "Magnitudes", lambda: Magnitudes(INNER, [D])),
        ("excluded", "Magnitudes", lambda: Magnitudes(INNER, [-1])),
        ("excluded", "Magnitudes", lambda: Magnitudes(INNER, [0.5])),
        ("shift", "Shifted", lambda: Shifted(INNER, [np.nan] * D)),
        ("shift", "Shifted", lambda: Shifted(INNER, [0.0])),
        ("index", "signed_coordinate", lambda: signed_coordinate(2 * D, D)),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(name, owner, make):
    with pytest.raises(ParameterError, match=rf"(?s)^The '{name}' parameter of {owner} must be .*\. Got .* instead\.$"):
        make()


def test_a_subclass_of_an_accepted_statistic_is_refused():
    """It could bring a kernel of its own, whose contributions nothing bounds."""

    class Loud(Clamped):
        def _block(self, X, y):
            return 1e6 * super()._block(X, y)

    with pytest.raises(ParameterError, match="The 'inner' parameter of Opposed must be one of Clamped, Truncated"):
        Opposed(Loud(ROWS, 1.0, 24))
