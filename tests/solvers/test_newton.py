"""The parts of the Newton recipe on exact answers: whitening, bounded steps, calibration."""

from dataclasses import replace

import numpy as np
import pytest

import tailguard as tg
from tailguard import engines
from tailguard.domains import L2Ball, WholeSpace
from tailguard.engines.partition import WHOLE
from tailguard.losses import BalancedLogistic, Logistic, Squared
from tailguard.solvers.base import Released
from tailguard.solvers.bounded_descent import (
    FORGOTTEN,
    BoundedDescent,
    Course,
    Walk,
    descend,
    level_and_curvature,
)
from tailguard.solvers.calibration import FARTHEST, MULTIPLE, Calibration, calibrate, still_taken
from tailguard.solvers.clip_level import CELLS, SUBSTEPS, ClipLevel, Histogram, histogram
from tailguard.solvers.intercept import Settling, settle
from tailguard.solvers.spread import LOW
from tailguard.solvers.whitening import Whitened, whitened
from tailguard.statistics.fields import Gradient
from tailguard.statistics.scalars import Slope
from tailguard.statistics.view import View

N, BITS = 4000, 30


def _records(seed=0):
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((N, 3)) @ np.array([[1.0, 0.9, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 2.0]]) + [
        3.0,
        0.0,
        -1.0,
    ]
    return mixed, rng


def _exactly(solve, X, y=None):
    """Answer every query exactly and return what the solver returns."""
    engine = engines.open(X, y)
    query = next(solve)
    while True:
        statistic = query.statistic
        value = engine.map_sum(statistic.kernel(), WHOLE) * statistic.unit
        try:
            query = solve.send(Released(query.step, value, 0.0))
        except StopIteration as stop:
            return stop.value


def _white(X, view):
    return _exactly(whitened("gram", view, 20.0, 0.5, 1e-12, N, BITS), X)


def _calibrated(setting, view, point, X, y):
    """Return what an exact calibration makes of a point."""

    def solve():
        sizes = yield from histogram("sizes", Slope(Gradient(view, Squared(), point)), N, BITS)
        return (yield from calibrate(setting, Squared(), view, point, sizes))[0]

    return _exactly(solve(), X, y)


def test_whitened_rows_are_centred_and_uncorrelated():
    X, _ = _records()
    rows = _white(X, View(3, centre=np.zeros(3), scale=np.ones(3), intercept=True)).view.rows(X)
    np.testing.assert_allclose(rows.T @ rows / N, np.eye(4), atol=1e-6)


def test_without_an_intercept_nothing_is_centred():
    X, _ = _records()
    white = _white(X, View(3, centre=np.zeros(3), scale=np.ones(3)))
    np.testing.assert_array_equal(np.asarray(white.view.centre), 0.0)
    rows = white.view.rows(X)
    np.testing.assert_allclose(rows.T @ rows / N, np.eye(3), atol=1e-6)


def test_a_whitened_point_predicts_the_same_in_raw_units():
    X, rng = _records()
    view = View(3, centre=[1.0, 2.0, 3.0], scale=[2.0, 0.5, 7.0], intercept=True, target_centre=5.0, target_scale=3.0)
    white, point = _white(X, view), rng.standard_normal(4)
    estimate = white.raw(point, WholeSpace(3))
    expected = 5.0 + 3.0 * (white.view.rows(X) @ point)
    np.testing.assert_allclose(X @ estimate.coefficients + estimate.intercept, expected, rtol=1e-9)


def test_a_dropped_column_leaves_an_empty_direction():
    X, rng = _records()
    white = _white(X, View(3, centre=np.zeros(3), scale=[1.0, np.inf, 1.0], intercept=True))
    assert white.kept.sum() == 3
    assert white.raw(rng.standard_normal(4), WholeSpace(3)).coefficients[1] == 0.0
    assert not white.inside(np.ones(4), WholeSpace(3), np.ones(3))[~white.kept].any()


def test_points_are_taken_back_into_the_domain():
    X, rng = _records()
    white = _white(X, View(3, centre=np.zeros(3), scale=np.ones(3), intercept=True))
    for point in 5.0 * rng.standard_normal((5, 4)):
        slopes = white.scaled(white.inside(point, L2Ball(3, 0.5), np.ones(3)))[:3]
        assert np.linalg.norm(slopes) <= 0.5 + 1e-6
    inner = 1e-3 * np.ones(4)
    np.testing.assert_allclose(white.inside(inner, L2Ball(3, 0.5), np.ones(3)), inner, atol=1e-9)


def _descent(tail, steps=40):
    return BoundedDescent(N, BITS, steps, 3, ClipLevel(tail))


def test_tight_levels_of_skewed_noise_leave_no_bias_on_the_slopes():
    X, rng = _records()
    noise = rng.exponential(size=N)
    rows = np.column_stack([X, noise])
    rows = (rows - rows.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(rows.T)).T)  # noise has no part in X
    X, noise = rows[:, :3], rows[:, 3]
    white = _white(X, View(3, centre=np.zeros(3), scale=np.ones(3), intercept=True))
    y = X @ [1.0, -2.0, 0.5] + noise
    course = Course(Squared(), white.view, 2.0, np.zeros(4))
    walk = _exactly(descend(("a", "b"), _descent(0.42), course), X, y)
    np.testing.assert_allclose(white.raw(walk.point, WholeSpace(3)).coefficients, [1.0, -2.0, 0.5], atol=0.05)


def _walk(noise, even=0.3):
    """Return a walk on records with such noise around a model."""
    X, _ = _records()
    white = _white(X, View(3, centre=np.zeros(3), scale=np.ones(3), intercept=True))
    descent = replace(_descent(0.02), even=even)
    y = white.view.rows(X) @ [1.0, -1.0, 0.5, 0.3] + noise
    return _exactly(descend(("a", "b"), descent, Course(Squared(), white.view, 2.0, np.zeros(4))), X, y)


@pytest.mark.parametrize("seed", range(4))
def test_skewed_residuals_are_told_from_symmetric_ones(seed):
    rng = np.random.default_rng(seed)
    assert _walk(rng.standard_t(3, N)).even
    assert not _walk(rng.lognormal(0.0, 0.6, N)).even
    assert not _walk(-rng.lognormal(0.0, 0.6, N)).even


@pytest.mark.parametrize("caution", [1.1, 1.3])
def test_steps_are_shorter_than_newtons_and_their_noise_is_known(caution):
    """A row of the identity's length 1 and level 1: the step is gradient ÷ (n · curvature · caution)."""
    descent = replace(_descent(0.3), caution=caution)
    walk = Walk(descent, Course(Squared(), View(2), 1.0, np.zeros(2)), [np.zeros(2)], [], 1.0, 0.5)
    steps = walk.onward("gradient")
    next(steps)
    with pytest.raises(StopIteration) as stop:
        steps.send(Released("gradient", np.array([0.1 * N, -0.2 * N]), 3.0))
    walk = stop.value.value
    np.testing.assert_allclose(walk.points[-1], np.array([-0.1, 0.2]) / (0.5 * caution))
    # Points that follow undo that steps are shorter: averages have the noise of Newton's.
    walk = replace(walk, found=walk.found * descent.steps, weights=walk.weights * descent.steps)
    kept = descent.steps - int(descent.steps * FORGOTTEN)
    assert walk.variance == pytest.approx((3.0 / (0.5 * N)) ** 2 / kept)


def test_levels_are_tight_where_residuals_are_symmetric():
    """Tight levels bear heavy tails better: the limit is that of the wanted mass, and so is the curvature."""
    noise = np.random.default_rng(8).standard_t(1.5, N)
    tight, wide = _walk(noise), _walk(noise, even=0.0)
    assert tight.limit < 0.5 * wide.limit
    assert tight.limit == pytest.approx(np.quantile(np.abs(noise), 0.7), rel=0.15)
    assert tight.curvature == pytest.approx(0.7 * wide.curvature / 0.98)
    truth = [1.0, -1.0, 0.5, 0.3]
    assert np.linalg.norm(tight.point - truth) < np.linalg.norm(wide.point - truth)


def test_a_walk_goes_on_where_it_was():
    noise = np.random.default_rng(9).standard_normal(N)
    walk = _walk(noise)
    X, _ = _records()
    y = walk.course.view.rows(X) @ [1.0, -1.0, 0.5, 0.3] + noise
    longer = _exactly(walk.onward("more"), X, y)
    np.testing.assert_array_equal(longer.points[:-1], walk.points)
    assert len(longer.weights) == len(walk.weights) + 1
    assert longer.variance < walk.variance


def test_a_calibration_finds_the_length_of_a_model_that_is_too_short():
    X, rng = _records()
    white = _white(X, View(3, centre=np.zeros(3), scale=np.ones(3), intercept=True))
    truth = np.array([1.0, -1.0, 0.5, 0.3])
    y = white.view.rows(X) @ truth + 0.1 * rng.standard_normal(N)
    setting = Calibration(ClipLevel(0.05), _descent(1e-3, 20))
    short = truth * [0.4, 0.4, 0.4, 0.0]
    np.testing.assert_allclose(_calibrated(setting, white.view, short, X, y), truth, atol=0.02)


def test_the_curvature_of_weighted_rows_counts_far_ones_by_their_length():
    """A row weighs ω = radius/‖z‖, so that it curves by ω‖z‖²: more than the square of what is left of it."""
    lengths = np.exp(np.random.default_rng(5).standard_normal(100_000))
    mass = np.zeros(CELLS)
    np.add.at(mass, np.floor(2 * (np.log2(lengths) + 64)).astype(int), 1.0 / lengths.size)
    near = lengths[lengths < 8.0 * np.sqrt(2.0)]  # the cell that begins with 8 counts too
    expected = np.sum(near * np.minimum(near, 2.0)) / lengths.size
    assert Histogram(mass, 0.0).leverage(2.0, 8.0) == pytest.approx(expected, rel=0.02)


def test_a_model_of_noise_is_calibrated_away():
    X, rng = _records()
    white = _white(X, View(3, centre=np.zeros(3), scale=np.ones(3), intercept=True))
    setting = Calibration(ClipLevel(0.05), _descent(1e-3, 20))
    found = _calibrated(setting, white.view, np.array([2.0, 1.0, 1.0, 0.0]), X, rng.standard_normal(N))
    assert np.linalg.norm(found[:3]) < 0.1


def test_the_curvature_of_classes_is_half_the_mean_slope():
    rng = np.random.default_rng(1)
    odds = rng.standard_normal(100_000)
    labels = (rng.random(odds.size) < 1.0 / (1.0 + np.exp(-odds))).astype(float)
    slopes = np.abs(BalancedLogistic().derivative(odds, labels))
    mass = np.zeros(CELLS)
    np.add.at(mass, np.clip(np.floor(2 * (np.log2(slopes) + 64)), 0, CELLS - 1).astype(int), 1.0 / odds.size)
    limit, curvature = level_and_curvature(Histogram(mass, 0.0), BalancedLogistic(), ClipLevel(0.4))
    expected = BalancedLogistic().second_derivative(odds, labels).mean()
    assert limit == 1.0
    assert curvature == pytest.approx(expected, rel=0.1)


def test_both_losses_of_classes_have_the_same_minimiser():
    """Their slopes at the right odds have mean 0."""
    odds = np.linspace(-4.0, 4.0, 17)
    for loss in (Logistic(), BalancedLogistic()):
        share = 1.0 / (1.0 + np.exp(-odds))
        mean = share * loss.derivative(odds, np.ones(17)) + (1.0 - share) * loss.derivative(odds, np.zeros(17))
        np.testing.assert_allclose(mean, 0.0, atol=1e-12)


def test_levels_grow_with_the_budget_and_the_surrogate_goes():
    weak, strong = (tg.LogisticRegression(epsilon=epsilon).plan(100_000, 5).solver for epsilon in (0.5, 1000.0))
    assert isinstance(weak.surrogate, BalancedLogistic)
    assert strong.surrogate is None
    assert strong.leverage.tail < 0.1 * weak.leverage.tail
    assert strong.descent.level.tail < 0.1 * weak.descent.level.tail


def test_slopes_that_noise_explains_are_dropped():
    """At a tiny budget the answer is the null model, or next to it, and no worse."""
    rng = np.random.default_rng(2)
    X = rng.standard_t(3, size=(10_000, 5))
    y = 0.001 * X[:, 0] + rng.standard_normal(10_000)
    errors = [np.square(tg.LinearRegression(epsilon=0.2, random_state=seed).fit(X, y).coef_).sum() for seed in range(3)]
    assert np.median(errors) < 0.02


def test_a_view_without_a_basis_is_the_prepared_one():
    X, _ = _records()
    view = View(3, centre=np.zeros(3), scale=np.ones(3), intercept=True)
    white = _white(X, view)
    assert isinstance(white, Whitened)
    assert white.plain.basis is None
    assert replace(white.plain, centre=None).dimension == view.dimension


def _settled(y, tail):
    """Return the intercept that exact answers settle from the median of y."""
    X, start = np.zeros((len(y), 1)), np.array([0.0, float(np.median(y))])
    setting = Settling(len(y), BITS, ClipLevel(tail), 1)
    gradient = Gradient(View(1, intercept=True), Squared(), start)
    return _exactly(settle(setting, gradient), X, y)[-1]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_settled_intercept_has_back_what_clipping_took(sign):
    y = sign * np.random.default_rng(3).pareto(3.0, 200_000)
    mean, shares = y.mean(), np.sort(np.abs(y - np.median(y)))
    level = shares[int(0.98 * len(y))]
    clipped = np.median(y) + np.mean(np.clip(y - np.median(y), -level, level))
    assert abs(clipped - mean) > 0.03
    assert abs(_settled(y, 0.02) - mean) < 0.35 * abs(clipped - mean)


def test_symmetric_tails_and_bounded_losses_get_nothing_back():
    y = np.random.default_rng(4).standard_t(3.0, 50_000)
    assert abs(_settled(y, 0.02)) < 0.02
    huber, rng = tg.losses.Huber(0.5), np.random.default_rng(5)
    y, setting = rng.pareto(3.0, 50_000), Settling(50_000, BITS, ClipLevel(0.02), 1)
    gradient = Gradient(View(1, intercept=True), huber, np.array([0.0, 0.3]))
    found = _exactly(settle(setting, gradient), np.zeros((50_000, 1)), y)[-1]
    assert found == pytest.approx(0.3 + np.mean(np.clip(y - 0.3, -0.5, 0.5)), abs=1e-3)


def test_slopes_lose_a_multiple_of_the_intercepts_part():
    mass = np.zeros(CELLS)
    mass[CELLS // 2 - 1] = 0.75
    mass[CELLS // 2 : CELLS // 2 + 39] = -np.diff(0.25 * 2.0 ** (-1.5 * np.arange(40)))  # of order 3
    found = Histogram(mass, 1e-6)
    level = found.beyond(0.01)
    tight, ended = np.zeros(4), np.array([0.1, 0.0, 0.2, level])
    part = still_taken(tight, ended, found, level)
    beyond = 0.25 * (level / 2.0 ** (LOW + CELLS // 2 / SUBSTEPS)) ** -3.0  # mass, of which each loses half a level
    assert part == pytest.approx(MULTIPLE * beyond / 2.0, rel=0.1)
    assert 0.0 < part < FARTHEST
    assert still_taken(tight, np.array([0.1, 0.0, 0.2, 0.0]), found, level) == 0.0
    assert still_taken(tight, ended, found, 2.0 * level) < part


@pytest.mark.parametrize("order", [2.0, 3.0])
def test_a_wide_level_takes_from_a_spread_by_the_order_of_the_tail(order):
    """The reasoning behind `still_taken`, by quadrature: E(sξ − c)₊ grows like s^α, for Pareto's law of order α."""
    noise = ((np.arange(200_000) + 0.5) / 200_000) ** (-1.0 / order)
    less, more = (np.mean(np.maximum(spread * noise - 8.0, 0.0)) for spread in (1.0, 1.1))
    assert np.log(more / less) / np.log(1.1) == pytest.approx(order, rel=0.03)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_skewed_noise_that_grows_with_the_prediction_leaves_little_bias(sign):
    """Slopes were 1 % too short, and intercepts up to 0.8 % of the signal off, before tails were put back."""
    errors, slopes = [], np.array([0.6, -0.6, 0.5])
    for seed in range(600, 648):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((10_000, 3))
        noise = (np.exp(rng.standard_normal(10_000)) - np.exp(0.5)) / 2.16
        y = sign * (X @ slopes + (0.4 + 1.2 / (1.0 + np.exp(-2.0 * X @ slopes))) * noise)
        fit = tg.LinearRegression(epsilon=2.0, delta=1e-6, random_state=seed).fit(X, y)
        errors.append((fit.intercept_, sign * fit.coef_ @ slopes / (slopes @ slopes) - 1.0))
    offset, along = np.mean(errors, axis=0)
    assert abs(offset) < 0.006
    assert abs(along) < 0.006


def test_a_stated_moment_bounds_what_is_put_back():
    mass = np.zeros(CELLS)
    mass[CELLS // 2 : CELLS // 2 + 39] = -np.diff(2.0 ** (-0.8 * np.arange(40)))  # of order 1.6
    sizes, level = Histogram(mass, 1e-4), 2.0**3
    tight, ended = np.zeros(2), np.array([0.1, 100.0])
    parts = [still_taken(tight, ended, sizes, level, order) for order in (1.5, 2.0, 4.0)]
    assert parts[0] > parts[1] > parts[2] > 0.0


def _mostly_zero(rng, n=4773):
    """Three in four targets are 0, the others spread over four octaves."""
    X = rng.standard_normal((n, 8))
    share = 0.25 + 0.1 * np.clip(X[:, 1], -2.0, 2.0)
    return X, np.where(rng.random(n) < share, np.exp(0.2 + 1.2 * rng.standard_normal(n)), 0.0)


def test_no_level_hides_what_a_faint_histogram_of_residuals_does_not_see():
    """Where most targets are 0, what is left of them after a step is seen first, and the others may not be at all."""
    mass = np.zeros(CELLS)
    mass[0], mass[2 * -LOW - 14 : 2 * -LOW - 10] = 0.5, 0.125
    sizes, level = Histogram(mass, 0.01), ClipLevel(0.4)
    walk = Walk(BoundedDescent(1000, 20, 3, 1, level), Course(Squared(), View(2), 1.0, np.zeros(2)), [], [], 1.0, 1.0)
    assert walk.least(sizes) == 0.0
    heaped = replace(walk, heaped=sizes.zeros > 0.0)
    assert heaped.levelled(sizes).limit == heaped.least(sizes) == pytest.approx(0.1)
    assert walk.levelled(sizes).limit == level_and_curvature(sizes, Squared(), level)[0] < 0.1
    assert replace(heaped, course=replace(walk.course, loss=BalancedLogistic())).least(sizes) == 0.0


def test_targets_that_are_mostly_0_are_fitted_where_the_budget_hardly_carries_levels():
    found = []
    for seed in (0, 1, 3, 7, 8, 10):
        X, y = _mostly_zero(np.random.default_rng(900 + seed))
        model = tg.LinearRegression(epsilon=0.65, delta=1e-6, random_state=seed).fit(X, y)
        found.append(1.0 - np.mean((y - model.predict(X)) ** 2) / y.var())
    assert min(found) > -0.01
    assert np.mean(found) > 0.0
