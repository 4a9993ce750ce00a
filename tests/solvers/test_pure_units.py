"""Private units by picks."""

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.solvers.pure_units import PureUnits, prepare_pure
from tailguard.solvers.rank_level import rank_level
from tailguard.statistics import Target, View
from tailguard.statistics.scalars import Occurring
from tests.support.picking import exactly, noisily

N, BITS = 4000, 30
RNG = np.random.default_rng(0)
UNITS = np.array([1.0, 300.0, 0.02])
CENTRE = np.array([2.0, -900.0, 0.0])
X = RNG.standard_normal((N, 3)) * UNITS + CENTRE
Y = 50.0 + 10.0 * RNG.standard_normal(N)


def prepared(columns, centred=True, target=True, X=X, y=Y, **changes):
    view = View(X.shape[1])
    return exactly(prepare_pure(view, PureUnits(centred, target, columns, **changes), len(X), BITS), X, y)


@pytest.mark.parametrize(
    ("columns", "steps"),
    [
        ("common", ["common scale"]),
        ("averaged", ["common scale", "feature mean", "row length", "feature variance"]),
        ("scaled", ["feature scale"] * 3 + ["feature mean"]),
        ("own", ["feature centre"] * 3 + ["feature scale"] * 3),
    ],
)
def test_what_is_asked(columns, steps):
    assert prepared(columns)[1] == ["target centre", "target scale", *steps]
    assert prepared(columns, centred=False, target=False)[1] == [
        step for step in steps if step not in ("feature centre", "feature mean", "row length")
    ]


def test_columns_of_their_own():
    view, _ = prepared("own")
    np.testing.assert_allclose(view.scale / UNITS, 1.0, atol=0.3)
    np.testing.assert_allclose((view.centre - CENTRE) / UNITS, 0.0, atol=0.1)
    assert view.target_scale == pytest.approx(10.0, rel=0.3)
    assert view.target_centre == pytest.approx(50.0, abs=1.5)


def test_sizes_of_columns_and_means():
    """Sizes are those around 0, so that a column far from 0 gets a large one, and means are then subtracted."""
    view, _ = prepared("scaled")
    sizes = 1.4826 * np.median(np.abs(X), axis=0)
    np.testing.assert_allclose(view.scale / sizes, 1.0, atol=0.25)
    assert np.all(np.abs(view.centre - CENTRE) < 0.3 * view.scale)
    assert np.all(np.median(np.linalg.norm(view.rows(X), axis=1)) < 3.0)


def test_averaged_columns_of_one_size():
    rows = RNG.standard_t(3, size=(N, 6)) * [1.0, 2.0, 1.0, 0.5, 1.0, 1.0] + 3.0
    view, _ = prepared("averaged", X=rows)
    spread = np.median(np.abs(view.rows(rows) - np.median(view.rows(rows), axis=0)), axis=0)
    assert spread.max() / spread.min() < 2.0
    np.testing.assert_allclose(view.centre, 3.0, atol=0.7)


def test_targets_of_zero_have_no_say_in_the_spread():
    """Two thirds of the targets are 0; a median that noise leaves beside it would be the distance of most of them."""
    y, view = np.where(np.arange(N) % 3 > 0, 0.0, 5.0 + np.arange(N) / N), View(3, target_centre=1e-6)
    usual, _ = exactly(rank_level("target scale", Occurring(Target(view)), 0.5, N, BITS, otherwise=1.0), X, y)
    assert usual == pytest.approx(5.5, rel=0.3)
    plain, _ = exactly(rank_level("target scale", Target(view), 0.5, N, BITS, otherwise=1.0), X, y)
    assert plain < 1e-5


@pytest.mark.parametrize("columns", ["scaled", "own"])
def test_a_rare_indicator_keeps_its_units(columns):
    rows = np.column_stack([X[:, 0], RNG.random(N) < 0.02])
    view, _ = prepared(columns, X=rows)
    assert view.scale[1] == pytest.approx(1.0)
    assert np.all(np.isfinite(view.rows(rows)))


@pytest.mark.parametrize("columns", ["common", "averaged", "scaled", "own"])
def test_columns_that_are_large_in_few_records_get_larger_scales(columns):
    rows = np.column_stack([X[:, 0], 2e4 * (RNG.random(N) < 0.05), 3e3 * (RNG.random(N) < 0.05), RNG.random(N) < 0.05])
    before, _ = prepared(columns, X=rows)
    after, steps = prepared(columns, X=rows, rounds=2)
    assert steps.count("leading columns") == 2
    largest = [np.abs(view.rows(rows)).max(axis=0) for view in (before, after)]
    assert np.all(largest[0][1:3] > 500.0)
    assert np.all(largest[1] < 128.0)
    if columns in ("scaled", "own"):
        assert after.scale[3] == pytest.approx(1.0)
        assert after.scale[0] == before.scale[0]


@pytest.mark.parametrize("zeros", [0.6, 0.77, 0.9])
def test_zeros_are_no_magnitudes_beside_a_median_that_was_picked(zeros):
    """Nearly every number is nearly a median; from one beside 0 the zeros would be three quarters of the distances."""
    rng = np.random.default_rng(4)
    rows = np.where(rng.random((N, 1)) < zeros, 0.0, 5.0 + rng.random((N, 1)))
    totals = {"feature centre": 60.0, "feature scale": 120.0}
    units = PureUnits(True, False, "own", feature_noise=2.0 * N / totals["feature scale"])
    for _ in range(60):
        view, _ = noisily(prepare_pure(View(1), units, N, BITS), rows, Y, totals, rng)
        assert view.scale[0] > 0.5
        assert view.centre[0] == 0.0 or zeros < 0.7


@pytest.mark.parametrize("total", [66.0, 266.0])
def test_the_spread_of_a_target_that_is_mostly_zero_takes_more_than_others(total):
    """With as little as other picks take, one in a hundred is off by many octaves."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(N) < 0.17, 1.0 + rng.geometric(0.4, N), 0.0)
    sizes, found = Occurring(Target(View(3))), []
    for _ in range(300):
        asking = rank_level("target scale", sizes, 0.5, N, BITS, otherwise=1.0, noise=2.0 * N / total)
        found.append(noisily(asking, X, y, {"target scale": total}, rng)[0])
    astray = np.abs(np.log2(found)) > 6.0
    assert astray.any() == (total < 100.0)


def test_a_hundredth_of_the_records_raises_no_scale():
    rows = np.column_stack([X[:, 0], 2e4 * (np.arange(N) < 0.01 * N)])
    assert prepared("scaled", X=rows, rounds=2)[0].scale[1] == pytest.approx(1.0)


def test_a_spread_that_few_records_tell_is_likely_to_be_near():
    """A quarter of the targets differ from 0, and the noise of the pick is larger than that."""
    y = np.where(np.arange(N) % 4 == 0, 3e6, 0.0)
    assert prepared("common", y=y, target_noise=10.0)[0].target_scale > 2e6
    assert 0.5 < prepared("common", y=y, target_noise=2000.0)[0].target_scale < 3.0


@pytest.mark.parametrize("columns", ["common", "averaged", "scaled", "own"])
@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 1e308, 5e-324])
def test_any_records_give_finite_units(columns, value):
    noises = {"target_noise": 1e300, "feature_noise": 1e300}
    view, _ = prepared(columns, X=np.full((N, 3), value), y=np.full(N, value), rounds=3, **noises)
    dropped = columns in ("scaled", "own") and not value < 2.0**64  # no number, or one beyond all that are looked at
    assert np.all(np.isinf(view.scale) if dropped else np.isfinite(view.scale))
    assert np.all(view.scale > 0.0)
    assert np.isfinite(view.target_scale)
    assert view.target_scale > 0.0
    assert view.centre is None or np.all(np.isfinite(view.centre))


def test_unknown_units_are_refused():
    with pytest.raises(ParameterError, match="'columns'"):
        PureUnits(True, True, "guessed")
