"""What every statistic that scores a net must do: move by no more than it declares, and be what the paper says."""

import dataclasses
import math
import pickle
from itertools import product

import numpy as np
import pytest

from tailguard import engines
from tailguard.domains import Box, L2Ball, Simplex
from tailguard.engines import WHOLE
from tailguard.engines.numpy import NumpyEngine
from tailguard.engines.selection import Selection
from tailguard.errors import LedgerError, ParameterError
from tailguard.losses import Absolute, Biweight, Hinge, Huber, Logistic, Loss, RecordLoss, Squared
from tailguard.mechanisms import NoisyMax
from tailguard.plans import Step
from tailguard.run.run import _check
from tailguard.statistics import Clipped, Gradient, GradientMapping, Potential, View, statistic_type
from tailguard.statistics.potential import slope_range
from tests.support import neighbours
from tests.support.registry_nets import NETS, SIZE, net


def _name(statistic):
    shape = "" if isinstance(statistic, Potential) else f", {type(statistic.region).__name__}"
    return f"{statistic.kind}, {statistic.loss.name}, {statistic._points.shape[1]}{shape}, {statistic.bits}"


ALL = pytest.mark.parametrize("statistic", NETS, ids=_name)


def _records(statistic, size, seed=0):
    level = statistic.threshold if isinstance(statistic, GradientMapping) else statistic.clip
    return neighbours.records(statistic.view, (level, 1.0), size, np.random.default_rng(seed))


def _value(statistic, X, y):
    target = None if isinstance(statistic.loss, RecordLoss) else y
    return statistic.evaluate(Selection(engines.open(X, target), WHOLE))


def _bases(statistic, n):
    """Hostile records; many that pull the same way; a gentle sample."""
    rng = np.random.default_rng(n)
    yield _records(statistic, n, n)
    d = statistic.view.dimension_in
    yield np.full((n, d), 0.5), np.full(n, -1e9)
    yield rng.standard_normal((n, d)), (rng.random(n) < 0.5).astype(float)


@ALL
@pytest.mark.parametrize("n", [1, 5, SIZE])
def test_no_replacement_exceeds_the_sensitivity(statistic, n):
    sensitivity = statistic.sensitivity("linf")
    others, targets = _records(statistic, 8, seed=99 + n)
    for X, y in _bases(statistic, n):
        before = _value(statistic, X, y)
        assert before.dtype == np.int64
        assert before.size == statistic.dimension
        for other, target in zip(others, targets, strict=True):
            after_X, after_y = X.copy(), y.copy()
            after_X[-1], after_y[-1] = other, target
            change = [int(a) - int(b) for a, b in zip(_value(statistic, after_X, after_y), before, strict=True)]
            assert max(map(abs, change)) <= sensitivity


@pytest.mark.parametrize("region", [Box((-9.0, -9.0), (9.0, 9.0)), L2Ball(2, 9.0)], ids=str)
def test_some_replacement_comes_near_the_sensitivity(region):
    """A record that pulls with all others, and one that pulls against them, along the axis of the farthest point."""
    points = net(2, 3)
    row = np.array([[1.0, 1.0]]) / math.sqrt(2)
    X, down, up = np.repeat(row, 4, axis=0), np.full(4, -1e6), np.array([-1e6] * 3 + [1e6])
    mapping = GradientMapping(View(2), Squared(), points, 1.0, 30, 4, region, 1e-3)
    potential = Potential(View(2), Squared(), points, 1.0, 30, 4, [0.0, 0.0])
    for statistic in (mapping, potential):
        change = np.abs(_value(statistic, X, up) - _value(statistic, X, down)).max()
        assert 0.999 <= change / statistic.sensitivity("linf") <= 1.0


def _usual(statistic):
    """Not the cases at the ends of the floats, where plain numpy has nothing to say."""
    steep = isinstance(statistic, GradientMapping) and statistic.step < 1e-3
    return not steep and statistic.ridge <= 1.0 and statistic.unit > 1e-20


@pytest.mark.parametrize("statistic", list(filter(_usual, NETS)), ids=_name)
def test_scores_are_those_of_plain_numpy(statistic):
    rng = np.random.default_rng(3)
    X = rng.standard_t(3, (SIZE, statistic.view.dimension_in))
    y = (rng.random(SIZE) < 0.5).astype(float)
    expected = np.array([_score(statistic, w, X, y) for w in statistic._points])
    rounding = SIZE * (1e-5 if isinstance(statistic, Potential) else 1e-9) * 2.0**statistic.bits + 2 * SIZE
    found = _value(statistic, X, y) * statistic.unit
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=rounding * statistic.unit)


def _score(statistic, w, X, y):
    rows, t = np.asarray(statistic.view.dense(X)), statistic.view.target(y)
    w0 = np.zeros(w.size) if statistic.centre is None else np.array(statistic.centre)
    if isinstance(statistic, Potential):
        pull = 0.5 * statistic.ridge * (np.sum((w - w0) ** 2) - np.sum((statistic.anchor - w0) ** 2))
        return -sum(_extension(statistic, z, s, w) for z, s in zip(rows, t, strict=True)) - SIZE * pull
    if isinstance(statistic.loss, Loss):
        gradients = statistic.loss.derivative(rows @ w, t)[:, None] * rows
    else:
        gradients = statistic.loss.gradient(w, rows, None)
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    mean = (gradients * np.minimum(1.0, statistic.threshold / np.maximum(norms, 1e-300))).mean(axis=0)
    moved = statistic.region.project(w - statistic.step * (mean + statistic.ridge * (w - w0)))
    return -SIZE * np.linalg.norm(w - moved) / statistic.step


def _extension(statistic, z, t, w):
    """f_C(w) − f_C(u) as the integral of the clipped slope."""
    limit = statistic.clip / np.linalg.norm(z)
    p = np.linspace(z @ np.asarray(statistic.anchor), z @ w, 4001)
    return np.trapezoid(np.clip(statistic.loss.derivative(p, t), -limit, limit), p)


LOSSES = [Squared(), Huber(1.5), Absolute(0.1), Logistic(), Hinge(0.5)]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_slope_ranges_are_found_to_the_last_bit(loss):
    targets = np.array([0.0, 1.0, 1.0, 0.0, 1.0, np.nan])
    limits = np.array([0.05, 0.3, 0.999, 5.0, 1e-12, 1.0])
    low, high = slope_range(loss, limits, targets)
    known = ~np.isnan(targets)
    bottom, top = known & (low > -1e300), known & (high < 1e300)
    assert bottom.any() or top.any()
    inner, outer = np.nextafter(low, 0.0), np.nextafter(high, 1e308)
    inner = np.where(low < 0.0, inner, np.nextafter(low, 1e308))
    assert np.all(loss.derivative(low, targets)[bottom] < -limits[bottom])
    assert np.all(loss.derivative(inner, targets)[bottom] >= -limits[bottom])
    assert np.all(loss.derivative(high, targets)[top] <= limits[top])
    assert np.all(loss.derivative(outer, targets)[top] > limits[top])


def test_minimisers_have_the_best_scores():
    """On a fine net the best gradient mapping and the best potential are where the clipped objective is smallest."""
    rng = np.random.default_rng(5)
    X, points = rng.standard_t(3, (200, 1)), net(1, 2001, 2.0)
    y = 0.7 * X[:, 0] + rng.standard_t(2, 200)
    for loss in (Squared(), Absolute(0.2)):
        mapping = GradientMapping(View(1), loss, points, 0.9, 30, 200, Box((-2.0,), (2.0,)), 0.5, 0.1)
        potential = Potential(View(1), loss, points, 0.9, 30, 200, [0.0], 0.1)
        best = [points[np.argmax(_value(statistic, X, y)), 0] for statistic in (mapping, potential)]
        assert best[0] == pytest.approx(best[1], abs=0.003)


def test_a_minimiser_on_the_boundary_scores_zero():
    X, y = np.ones((50, 1)), np.full(50, 9.0)
    for region in (Box((-1.0,), (1.0,)), L2Ball(1, 1.0)):
        statistic = GradientMapping(View(1), Squared(), net(1, 5), 1.0, 20, 50, region, 0.5)
        scores = _value(statistic, X, y)
        assert scores[-1] == 0
        assert np.all(np.diff(scores) >= 0)


def test_box_and_ball_agree_on_a_line():
    """An interval is both: the two projections and their roundings give the same integers but for the last step."""
    rng = np.random.default_rng(8)
    X, y = rng.standard_t(2, (60, 1)), rng.standard_t(2, 60)
    for step, ridge in product((1e-3, 0.3, 10.0), (0.0, 0.7)):
        box, ball = (
            GradientMapping(View(1), Squared(), net(1, 41, 1.2), 0.8, 30, 60, region, step, ridge, [0.2])
            for region in (Box((-1.0,), (1.0,)), L2Ball(1, 1.0))
        )
        assert np.abs(_value(box, X, y) - _value(ball, X, y)).max() <= 3


@ALL
def test_order_chunks_and_memory_do_not_matter(statistic):
    X, y = _records(statistic, 40, seed=2)
    target = None if isinstance(statistic.loss, RecordLoss) else y
    whole = _value(statistic, X, y)
    shuffle = np.random.default_rng(3).permutation(len(X))
    np.testing.assert_array_equal(_value(statistic, X[shuffle], y[shuffle]), whole)
    for threads, chunk in ((1, 7), (3, 20)):
        engine = NumpyEngine(np.asfortranarray(X), target, threads=threads, chunk_bytes=X.nbytes // chunk)
        np.testing.assert_array_equal(statistic.evaluate(Selection(engine, WHOLE)), whole)
    kernel = statistic.kernel()
    parts = kernel(X[:11], y[:11]) + kernel(X[11:], y[11:]) + kernel(X[:0], y[:0])
    np.testing.assert_array_equal(parts, kernel(X, y))


@ALL
def test_a_record_that_is_no_number_counts_for_nothing(statistic):
    nothing = np.full((3, statistic.view.dimension_in), np.nan), np.full(3, np.nan)
    assert not np.any(statistic.kernel()(*nothing))


@ALL
def test_a_plan_accepts_the_statistic_and_no_other(statistic):
    kind = statistic_type(statistic.kind)
    assert kind is type(statistic)
    sensitivity = kind.sensitivity_of("linf", statistic.dimension, statistic.bits)
    assert statistic.sensitivity("linf") == sensitivity >= 2.0 * 2**statistic.bits
    step = Step("pick", statistic.kind, statistic.dimension, statistic.bits, 1, sensitivity, NoisyMax(), 2.0)
    _check(statistic, step)
    with pytest.raises(LedgerError):
        _check(statistic, dataclasses.replace(step, dimension=statistic.dimension + 1))
    with pytest.raises(ParameterError, match="norm"):
        statistic.sensitivity("l2")


@ALL
def test_statistics_are_frozen_and_travel(statistic):
    X, y = _records(statistic, 5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        statistic.bits = 3
    if statistic.loss.name != "cube":  # a user's function may be anything
        again = pickle.loads(pickle.dumps(statistic))
        np.testing.assert_array_equal(_value(again, X, y), _value(statistic, X, y))


@ALL
def test_records_that_could_overflow_are_refused_by_public_numbers(statistic):
    class Many:
        size = 2 ** (62 - statistic.bits) + 1

    with pytest.raises(ParameterError, match=f"{statistic.bits} bits could overflow"):
        statistic.evaluate(Many())


def test_the_exponential_mechanism_over_a_net_keeps_its_promise():
    """Exact probabilities ∝ exp(score ÷ scale) on all neighbours of a small data set: no ratio above e^ε, some near."""
    values, budget = (-1e9, -1.0, 0.0, 2.0, 1e9, np.nan), 1.0
    statistics = (
        GradientMapping(View(1), Squared(), net(1, 5), 0.5, 20, 3, Box((-1.0,), (1.0,)), 0.1),
        GradientMapping(View(1), Squared(), net(1, 5), 0.5, 20, 3, L2Ball(1, 1.0), 0.1),
        Potential(View(1), Squared(), net(1, 5), 0.5, 20, 3, [0.0]),
    )
    for statistic in statistics:
        scale = 2.0 / budget * statistic.sensitivity("linf")
        laws = {}
        for y in product(values, repeat=3):
            scores = _value(statistic, np.ones((3, 1)), np.array(y)) / scale
            laws[tuple(map(str, y))] = scores - np.log(np.exp(scores).sum())
        worst = 0.0
        for y, place, new in product(laws, range(3), map(str, values)):
            other = (*y[:place], new, *y[place + 1 :])
            worst = max(worst, np.abs(laws[y] - laws[other]).max())
        assert 0.4 * budget < worst <= budget


def test_a_step_size_from_the_data_would_show():
    """Two step sizes, as Proposition E.4 of Lowy 2026 would take them from two neighbours, on the same data."""
    X, y = np.ones((50, 1)), np.full(50, 9.0)
    scores = [
        _value(GradientMapping(View(1), Squared(), [[0.9]], 1.0, 20, 50, Box((-1.0,), (1.0,)), step), X, y)[0]
        for step in (0.5, 1e-3)
    ]
    assert abs(scores[1] - scores[0]) > 10 * (2 * 2**20 + 2)


class Tilted(Box):
    pass


@pytest.mark.parametrize(
    ("kind", "changes", "match"),
    [
        (GradientMapping, {"region": Simplex(1)}, "a Box or an L2Ball"),
        (GradientMapping, {"region": Tilted((0.0,), (1.0,))}, "a Box or an L2Ball"),
        (GradientMapping, {"region": L2Ball(2, 1.0), "points": [[0.0, 0.0]]}, "'region'"),
        (GradientMapping, {"step": 0.0}, "'step'"),
        (GradientMapping, {"points": [[np.nan]]}, "'points'"),
        (GradientMapping, {"points": np.empty((0, 1))}, "'points'"),
        (GradientMapping, {"ridge": -1.0}, "'ridge'"),
        (GradientMapping, {"centre": [1.0, 2.0]}, "'point'"),
        (Potential, {"points": [[0.5], [0.5]]}, "'points'"),
        (Potential, {"loss": Biweight(1.0)}, "'loss'"),
        (Potential, {"anchor": [np.inf]}, "'point'"),
        (Potential, {"clip": 0.0}, "'clip'"),
        (Potential, {"size": 0}, "'size'"),
    ],
)
def test_wrong_parameters_are_refused(kind, changes, match):
    usual = {"view": View(1), "loss": Squared(), "points": [[0.0], [1.0]], "bits": 10, "size": 5}
    if kind is GradientMapping:
        usual |= {"threshold": 1.0, "region": Box((0.0,), (1.0,)), "step": 1.0}
    else:
        usual |= {"clip": 1.0, "anchor": [0.5]}
    with pytest.raises(ParameterError, match=match):
        kind(**usual | changes)


def test_gradient_sums_are_those_of_clipped_sums():
    """Bit by bit: the pass over many points does what `Clipped` does at each of them."""
    for statistic in (s for s in NETS if isinstance(s, GradientMapping) and isinstance(s.loss, Loss)):
        X, y = _records(statistic, 60, seed=4)
        fields = (Gradient(statistic.view, statistic.loss, point) for point in statistic._points)
        sums = [Clipped(field, statistic.threshold, statistic.bits).kernel()(X, y) for field in fields]
        np.testing.assert_array_equal(statistic.kernel()(X, y), np.concatenate(sums))


def test_the_suite_can_fail():
    """Twice the scores, or gradients that are not clipped, move too far; a wrong unit of losses meets the clamp."""

    class Doubled(GradientMapping):
        def _of(self, total):
            return 2 * super()._of(total)

    class Unclipped(GradientMapping):
        def kernel(self):
            return dataclasses.replace(self._gradients, threshold=1e3 * self.threshold, bits=self.bits + 10).kernel()

    class Halved(Potential):
        @property
        def unit(self):
            return super().unit / 2.0

    X, y = np.ones((3, 1)), np.full(3, -1e6)
    after = np.array([-1e6, -1e6, 1e6])
    usual = {"view": View(1), "loss": Squared(), "points": net(1, 5), "bits": 20, "size": 3}
    mapping = {"threshold": 1.0, "region": Box((-9.0,), (9.0,)), "step": 1e-3}
    for kind in (Doubled, Unclipped):
        statistic = kind(**usual, **mapping)
        change = np.abs(_value(statistic, X, after) - _value(statistic, X, y)).max()
        assert change > statistic.sensitivity("linf")
    honest, loose = (kind(**usual, clip=1.0, anchor=[0.0]) for kind in (Potential, Halved))
    moved = [np.abs(_value(s, X, after) - _value(s, X, y)).max() * s.unit for s in (honest, loose)]
    assert moved[1] < 0.6 * moved[0]  # the clamp holds even where the unit is wrong
