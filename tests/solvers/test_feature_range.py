"""Where rows are, by a released histogram of their lengths, and what that does to the predictions of long ones."""

import numpy as np
import pytest
from scipy import sparse

import tailguard as tg
from tailguard.run.run import drive, in_units
from tailguard.solvers.base import Query, Released
from tailguard.solvers.feature_range import FeatureRange, feature_range
from tailguard.statistics.base import grid_bits
from tailguard.statistics.fields import Rows
from tailguard.statistics.judged import Predictions
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Norm
from tailguard.statistics.view import View
from tests.support.held_rows import held_scores
from tests.support.transcripts import FAMILIES, integers, told

N, D = 20_000, 3
ENDS = FeatureRange((1.0, 0.0, 50.0), (2.0, 0.0, 0.1), 3.0)
SLOPES = np.array([1.0, 0.0, -0.5])


def asked(view, X, noise, rng):
    """Return the question and a noisy answer of the lengths of rows."""
    statistic = Octaves(Norm(Rows(view)), -64, 64, 2, grid_bits(len(X)))
    exact = statistic.kernel()(X, None) * statistic.unit
    return Query("row level", statistic), Released("row level", exact + noise * rng.standard_normal(exact.size), noise)


@pytest.mark.parametrize("noise", [10.0, 60.0])
@pytest.mark.parametrize("law", ["gaussian", "t3", "lognormal1"])
def test_hardly_any_row_is_outside(law, noise):
    rng = np.random.default_rng(720)
    for _ in range(5):
        X = {
            "gaussian": rng.standard_normal((N, D)),
            "t3": rng.standard_t(3, (N, D)),
            "lognormal1": np.exp(rng.standard_normal((N, D))),
        }[law]
        view = View(D, centre=np.zeros(D), scale=np.ones(D), intercept=True)
        ends = feature_range(*asked(view, X, noise, rng), np.ones(D))
        lengths = np.linalg.norm(X, axis=1)
        assert np.sum(lengths > ends.radius) <= 20  # one in a thousand
        assert ends.radius < 100.0 * lengths.max()


def test_columns_of_no_use_do_not_count():
    rng = np.random.default_rng(721)
    X = rng.standard_normal((N, D))
    view = View(D, centre=np.array([0.0, 1.0, 2.0]), scale=np.array([2.0, np.inf, 4.0]), intercept=True)
    query, reply = asked(view, X, 10.0, rng)
    ends = feature_range(query, reply, np.array([0.0, 0.0, 5.0]))
    assert ends.centres == (0.0, 1.0, 2.0)
    assert ends.rates == (0.0, 0.0, 0.25)
    assert feature_range(query, reply, np.zeros(D)) is None


def test_noise_alone_makes_no_range():
    view = View(D, centre=np.zeros(D), scale=np.ones(D))
    query, _ = asked(view, np.zeros((10, D)), 1.0, np.random.default_rng(0))
    noise = np.random.default_rng(722).standard_normal(256)
    assert feature_range(query, Released("row level", noise, 1.0), np.ones(D)) is None


@pytest.mark.parametrize("family", FAMILIES)
def test_a_range_is_a_range_whatever_was_released(family):
    model = tg.LinearRegression(epsilon=1.0, delta=1e-6)
    ends = told(model.plan(N, D), family, 723).feature_range
    assert ends is None or (0.0 < ends.radius < np.inf and min(ends.rates) >= 0.0)


def test_made_up_releases_make_the_range():
    """No record is there: two transcripts with one histogram of rows have one radius."""
    plan, radii = tg.LogisticRegression(epsilon=1.0, delta=1e-6).plan(N, D), []
    rows = np.random.default_rng(724).standard_normal((N, D))
    _, histogram = asked(View(D, intercept=True), rows, 20.0, np.random.default_rng(725))
    for rng in map(np.random.default_rng, (1, 2)):

        def answer(step, statistic, block, rng=rng):
            if step.name == "row level":
                return histogram, step.release_event
            return in_units(step, statistic, integers("noise", step, N, rng)), step.release_event

        radii.append(drive(plan, answer)[0].feature_range)
    known = [ends.radius for ends in radii if ends is not None]
    assert len(set(known)) <= 1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_long_rows_are_drawn_back_and_no_others(form):
    rng = np.random.default_rng(726)
    X = np.array(ENDS.centres) + rng.standard_t(2, (5000, D)) * [0.5, 1e9, 10.0]
    model = {
        "coefficients": SLOPES.tolist(),
        "intercept": 2.0,
        "feature_range": {"centres": ENDS.centres, "rates": ENDS.rates, "radius": ENDS.radius},
    }
    plain = X @ SLOPES + 2.0
    held = ENDS.held(form(X), plain, SLOPES, 2.0)
    np.testing.assert_allclose(held, held_scores(model, X), rtol=1e-9, atol=1e-9)
    same = np.linalg.norm((X - ENDS.centres) * ENDS.rates, axis=1) < ENDS.radius
    assert 0.02 < np.mean(~same) < 0.5
    np.testing.assert_array_equal(held[same], plain[same])


def test_sparse_rows_are_as_long_as_dense_ones_at_the_ends_of_floats():
    numbers = [0.0, 1e308, -1e308, 1e200, np.inf, -np.inf, np.nan, 5e-324, 1e9 + 1.0]
    X = np.array(np.meshgrid(numbers, numbers, numbers)).reshape(3, -1).T
    for ends in (ENDS, FeatureRange((1e9, 0.0, -1e5), (1.0, 0.0, 1e3), 3.0)):
        with np.errstate(all="ignore"):
            plain = X @ SLOPES + 2.0
        dense, thin = (ends.held(rows, plain, SLOPES, 2.0) for rows in (X, sparse.csr_matrix(X)))
        np.testing.assert_array_equal(dense, thin)
        assert np.all(np.isfinite(dense[np.isfinite(plain)]))


def test_an_evaluation_sees_the_same_predictions():
    X = np.array([[1.0, 7.0, 50.0], [1e6, 0.0, 50.0], [np.nan, 0.0, 0.0], [1.0, 0.0, -1e9], [np.inf, 0.0, 0.0]])
    view = View(D, basis=SLOPES[:, np.newaxis])
    judged = Predictions(view, 2.0, rows=ENDS.view, radius=ENDS.radius).values(X, None)[:, 0]
    np.testing.assert_allclose(judged, ENDS.held(X, X @ SLOPES + 2.0, SLOPES, 2.0), rtol=1e-12)
    np.testing.assert_allclose(judged, [-22.0, -20.5, np.nan, -7.0, np.inf], rtol=1e-12)


def test_columns_are_chosen_and_spread():
    assert ENDS.of([0, 2]) == FeatureRange((1.0, 50.0), (2.0, 0.1), 3.0)
    assert ENDS.of([0, 2]).among(4, (3, 1)) == FeatureRange((0.0, 50.0, 0.0, 1.0), (0.0, 0.1, 0.0, 2.0), 3.0)


def test_no_rows_no_predictions():
    assert ENDS.held(np.empty((0, D)), np.empty(0), SLOPES, 2.0).size == 0
