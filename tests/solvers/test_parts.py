"""The parts that solvers share, told exact values: quantiles, scales, clip levels, preconditioners."""

import numpy as np
import pytest

from tailguard.domains import L1Ball, L2Ball, Simplex, WholeSpace
from tailguard.solvers.clip_level import CELLS, ClipLevel, clip_level
from tailguard.solvers.metric_projection import metric_projection
from tailguard.solvers.preconditioner import CAUTION, Preconditioner, preconditioner
from tailguard.solvers.preparation import Preparation, prepare_features, prepare_target, units
from tailguard.solvers.quantile import LogGrid, quantile
from tailguard.solvers.spread import spread
from tailguard.statistics import Columns, Norm, Rows, View
from tests.support.exactly import told_exactly

BITS = 30
FINE = LogGrid(-64, 64, 2**12, signed=True)
RNG = np.random.default_rng(0)
COLUMNS = {
    "normal": RNG.normal(size=999),
    "far off": RNG.normal(size=999) + 1e6,
    "negative": -np.exp(RNG.normal(size=999)),
    "cauchy": RNG.standard_cauchy(size=999),
    "tiny": 1e-12 * RNG.normal(size=999),
    "huge": 1e15 * RNG.normal(size=999),
    "mostly zero": RNG.normal(size=999) * (RNG.random(999) < 0.2),
    "indicator": (RNG.random(999) < 0.7).astype(float),
    "constant": np.full(999, -3.25),
    "whole numbers": RNG.poisson(4.0, size=999).astype(float),
}
columns = pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())


def _quantile(X, level, grid=FINE):
    X = np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X
    return told_exactly(quantile("q", Columns(View(X.shape[1])), level, len(X), BITS, grid), X)


@columns
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_a_quantile_is_the_order_statistic_up_to_the_grid(column, level):
    found, queries = _quantile(column, level)
    true = np.sort(column)[int(np.ceil(level * len(column))) - 1]
    assert len(queries) == FINE.depth
    assert found[0] == pytest.approx(true, rel=2.0 ** (2 / FINE.substeps) - 1, abs=2.0**-63)
    assert found[0] >= true


def test_several_scalars_are_sought_at_once():
    X = np.column_stack(list(COLUMNS.values()))
    together, queries = _quantile(X, 0.5)
    assert len(queries) == FINE.depth
    np.testing.assert_array_equal(together, [_quantile(column, 0.5)[0][0] for column in X.T])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, -1e300])
def test_a_quantile_beyond_the_grid_is_zero(value):
    column = COLUMNS["normal"].copy()
    column[:600] = value
    assert _quantile(column, 0.5)[0][0] == 0.0


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(("low", "high", "substeps"), [(-64, 64, 2), (-3, 5, 7), (0, 1, 1)])
def test_edges_grow_and_a_bisection_ends(signed, low, high, substeps):
    grid = LogGrid(low, high, substeps, signed)
    index = np.arange(-grid.size if signed else 0, grid.size + 1)
    edges = grid.edge(index)
    assert np.all(np.diff(edges) > 0)
    assert edges[-1] == 2.0**high
    assert grid.edge(np.array([0])) == 0.0
    assert 2**grid.depth >= len(index) - 1 > 2 ** (grid.depth - 1) or grid.depth == 0


def _spread(column, centre=0.0, resolution=1e-5):
    X = np.reshape(column, (-1, 1))
    view = View(1, centre=[centre])
    (scale,), _ = told_exactly(spread("s", Columns(view), np.array([centre]), len(X), BITS, resolution), X)
    return scale


@pytest.mark.parametrize("factor", [1e-15, 1.0, 1e15])
def test_the_scale_of_a_normal_column_is_its_standard_deviation(factor):
    assert _spread(factor * COLUMNS["normal"]) == pytest.approx(factor, rel=0.25)


def test_scales_follow_the_data_by_octaves():
    for name in ("normal", "cauchy", "mostly zero"):
        assert _spread(1024.0 * COLUMNS[name]) == pytest.approx(1024.0 * _spread(COLUMNS[name]), rel=1e-12)


def test_outliers_do_not_move_a_scale():
    column = COLUMNS["normal"].copy()
    before = _spread(column)
    column[:5] = 1e12
    assert _spread(column) == pytest.approx(before, rel=0.02)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300, np.nan])
def test_infinities_move_neither_scale_nor_level(value):
    column = COLUMNS["normal"].copy()
    before = _spread(column), _level(column, 0.1)
    column[:80] = value
    assert _spread(column) == pytest.approx(before[0], rel=0.1)
    assert _level(column, 0.1) == pytest.approx(before[1], rel=0.1)


@pytest.mark.parametrize("share", [0.03, 0.2, 0.5, 0.9])
def test_an_indicator_has_a_scale(share):
    column = (np.arange(1000) < 1000 * share).astype(float)
    assert 0.1 < _spread(column) < 3.0


def test_nothing_to_scale_is_infinite():
    assert _spread(np.zeros(500)) == np.inf
    assert _spread(np.full(500, np.nan)) == np.inf
    assert _spread(np.full(500, 7.0), centre=7.0 * (1 + 1e-6)) == np.inf  # rounding of the centre is no spread


def test_noise_alone_is_no_scale():
    X = np.zeros((500, 1))
    asking = spread("s", Columns(View(1)), np.zeros(1), 500, BITS, 1e-5)
    (scale,), _ = told_exactly(asking, X, noise=1.0)
    assert scale == np.inf


def _level(column, tail, order=3.0, noise=1e-9):
    X = np.reshape(column, (-1, 1))
    return told_exactly(clip_level("c", Norm(Rows(View(1))), ClipLevel(tail, order), len(X), BITS), X, noise=noise)[0]


@pytest.mark.parametrize("name", ["normal", "cauchy", "huge", "tiny"])
@pytest.mark.parametrize("tail", [0.3, 0.1, 0.02])
def test_the_wanted_mass_lies_beyond_a_level(name, tail):
    level = _level(COLUMNS[name], tail)
    beyond = np.mean(np.abs(COLUMNS[name]) > level)
    assert tail / 2 - 0.01 < beyond < 2 * tail + 0.01


def test_a_level_is_carried_beyond_what_noise_resolves():
    column = np.random.default_rng(1).standard_t(3, size=4000)
    near, far = (_level(column, tail, noise=1e-3) for tail in (1e-3, 1e-6))
    assert far > 5 * near
    assert _level(column, 1e-6, order=6.0, noise=1e-3) < far  # lighter tails reach less far


@pytest.mark.parametrize("column", [np.zeros(50), np.full(50, np.nan), np.full(50, 1e300), np.full(50, 1e-300)])
def test_levels_stay_in_their_public_range(column):
    for noise in (1e-9, 1.0, 1e9):
        assert 2.0**-64 <= _level(column, 0.1, noise=noise) <= 2.0**64


def test_a_level_takes_one_histogram():
    _, queries = told_exactly(clip_level("c", Norm(Rows(View(2))), ClipLevel(0.1, 3.0), 50, BITS), np.ones((50, 2)))
    assert [query.statistic.dimension for query in queries] == [CELLS]


def test_a_preconditioner_is_the_damped_inverse_of_the_gram_matrix():
    X = np.random.default_rng(2).normal(size=(400, 3)) * [1.0, 2.0, 0.5]
    inverse, _ = told_exactly(preconditioner("g", View(3), 100.0, 0.01, 400, BITS), X)
    expected = CAUTION * (X.T @ X / 400 + 0.01 * np.eye(3))
    for gradient in np.eye(3):
        np.testing.assert_allclose(inverse.apply(gradient), np.linalg.solve(expected, gradient), rtol=1e-5)


@pytest.mark.parametrize("columns", [None, [0, 1, 2]])
def test_a_preconditioner_forgets_dropped_columns(columns):
    X = np.random.default_rng(2).normal(size=(400, 3)) * [1.0, 2.0, 0.5]
    dropped = View(3, scale=[1.0, np.inf, 2.0], intercept=True, columns=columns)
    whole, _ = told_exactly(preconditioner("g", dropped, 100.0, 0.01, 400, BITS), X, noise=0.1)
    few, _ = told_exactly(
        preconditioner("g", View(2, scale=[1.0, 2.0], intercept=True), 100.0, 0.01, 400, BITS), X[:, [0, 2]]
    )
    assert np.all(whole.apply(np.eye(4)[1]) == 0.0)
    assert np.all(whole.apply(np.ones(4))[1] == 0.0)
    assert whole.values.size == few.values.size == 3
    quiet, _ = told_exactly(preconditioner("g", dropped, 100.0, 0.01, 400, BITS), X)
    np.testing.assert_allclose(quiet.apply(np.ones(4))[[0, 2, 3]], few.apply(np.ones(3)))


def test_more_noise_makes_shorter_steps():
    X = np.random.default_rng(2).normal(size=(400, 3))
    steps = [
        np.linalg.norm(
            told_exactly(preconditioner("g", View(3), 9.0, 0.01, 400, BITS), X, noise=noise)[0].apply(np.ones(3))
        )
        for noise in (1e-9, 0.1, 10.0)
    ]
    assert steps[0] > steps[1] > 10 * steps[2]


@pytest.mark.parametrize(
    "domain", [L2Ball(3, 1.0), L1Ball(3, 1.0), Simplex(3), L2Ball(3, 0.5, (1.0, 2.0, 3.0))], ids=str
)
def test_a_projection_in_a_metric_is_the_constrained_minimiser(domain):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(4, 4))
    values, vectors = np.linalg.eigh(A @ A.T + np.eye(4))
    factors = np.array([2.0, 0.5, 1.0])
    point = 3.0 * rng.normal(size=4)
    found = metric_projection(point, factors, domain, Preconditioner(vectors, values))
    hessian = (vectors * values) @ vectors.T

    def cost(x):
        return (x - point) @ hessian @ (x - point)

    assert domain.contains(found[:3] * factors, tolerance=1e-6)
    for _ in range(300):
        raw = domain.project(found[:3] * factors + rng.normal(size=3) * 10.0 ** rng.uniform(-3, 0))
        free = found[3] + rng.normal() * 10.0 ** rng.uniform(-4, 0)
        assert cost(np.append(raw / factors, free)) >= cost(found) * (1 - 1e-5)


def test_dropped_columns_have_no_metric():
    view = View(2, scale=[np.inf, np.inf])
    metric, _ = told_exactly(preconditioner("g", view, 1.0, 0.01, 50, BITS), np.ones((50, 2)))
    assert metric.values.size == 0
    np.testing.assert_array_equal(metric.apply(np.ones(2)), 0.0)
    found = metric_projection(np.array([3.0, 4.0]), np.zeros(2), L2Ball(2, 1.0), metric)
    np.testing.assert_allclose(found, [0.6, 0.8])


def test_the_whole_space_is_no_constraint():
    point = np.arange(3.0)
    assert metric_projection(point, np.ones(2), WholeSpace(2), Preconditioner(np.eye(3), np.ones(3))) is point


def test_preparation_centres_and_scales():
    X = np.column_stack([COLUMNS["normal"] * 3 + 50, COLUMNS["constant"], COLUMNS["huge"], np.full(999, np.nan)])
    asking = prepare_features(View(4, intercept=True), Preparation(2**12), 999, BITS)
    view, _ = told_exactly(asking, X)
    centre, scale = units(view)
    np.testing.assert_allclose(centre[:2], [np.median(X[:, 0]), -3.25], rtol=2e-3)
    np.testing.assert_allclose(scale[[0, 2]], [3.0, 1e15], rtol=0.3)
    assert centre[3] == 0.0
    assert np.isinf(scale[[1, 3]]).all()
    assert view.intercept


def test_a_model_without_intercept_is_scaled_but_not_centred():
    asking = prepare_features(View(1), Preparation(2**9, centred=False), 999, BITS)
    view, queries = told_exactly(asking, COLUMNS["far off"][:, None])
    assert len(queries) == 1
    assert units(view)[0] == 0.0
    assert units(view)[1] == pytest.approx(1e6, rel=0.5)


@pytest.mark.parametrize(("target", "centre", "scale"), [
    (COLUMNS["normal"] + 1e4, 1e4, 1.0),
    (np.full(999, 1e-19), 1e-19, 1e-19),
    (np.zeros(999), 0.0, 2.0**-64),
    (np.full(999, np.nan), 0.0, 2.0**-64),
])  # fmt: skip
def test_a_target_always_has_a_scale(target, centre, scale):
    asking = prepare_target(View(1), Preparation(2**18), 999, BITS)
    view, _ = told_exactly(asking, np.zeros((999, 1)), target)
    assert view.target_centre == pytest.approx(centre, rel=1e-4)
    assert view.target_scale == pytest.approx(scale, rel=0.3)


@pytest.mark.parametrize(("target", "scale"), [
    (COLUMNS["constant"], 0.0),
    (COLUMNS["normal"] + 1e4, 1.0),
    (0.01 * COLUMNS["normal"] - 1e4, 0.01),
])  # fmt: skip
@pytest.mark.parametrize("substeps", [2**9, 2**13])
def test_a_target_within_the_rounding_of_its_centre_is_scaled_by_its_distance_from_there(target, scale, substeps):
    asking = prepare_target(View(1), Preparation(substeps), 999, BITS)
    view, _ = told_exactly(asking, np.zeros((999, 1)), target)
    distance = float(np.sqrt(np.mean((target - view.target_centre) ** 2)))
    assert distance < 2.0 * scale + 0.7 / substeps * abs(view.target_centre)
    assert 0.5 * distance < view.target_scale < 2.0 * distance


def test_the_target_has_its_own_grid():
    setting = Preparation(2**9, target_substeps=2**18)
    assert setting.of_target.grid == Preparation(2**18).grid
    assert Preparation(2**9).of_target.grid == Preparation(2**9).grid
    view, _ = told_exactly(prepare_target(View(1), setting, 999, BITS), np.zeros((999, 1)), COLUMNS["normal"] + 1e4)
    assert view.target_centre == pytest.approx(1e4, rel=1e-5)
    assert view.target_scale == pytest.approx(1.0, rel=0.3)
    assert setting.blur(view) == pytest.approx(Preparation(2**18).blur(view))
