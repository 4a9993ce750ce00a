"""A private choice among models: scores as losses define them, a handicap for all but the first, and no surprises."""

import numpy as np
import pytest

from tailguard import engines
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.losses import Huber, Logistic, Squared
from tailguard.solvers import Released
from tailguard.solvers.model_choice import choose, improvement
from tailguard.statistics import Clamped, Shifted, View

N, BITS = 400, 30
RNG = np.random.default_rng(0)
X = RNG.normal([0.0, 5.0, 0.0], size=(N, 3))
Y = 2.0 * X[:, 0] + X[:, 1] + RNG.standard_t(3, size=N)
VIEW = View(3, centre=[0.0, 5.0, 0.0], scale=[1.0, 1.0, 2.0], intercept=True, target_centre=5.0, target_scale=2.0)
NULL, POOR, GOOD = np.zeros(4), np.array([-1.0, 0.0, 0.0, 0.3]), np.array([1.0, 0.5, 0.0, 0.0])


def _asked(*arguments, **options):
    """Return the statistic that is asked for, and the choice when the best score is told."""
    asking = choose("choice", *arguments, **options)
    query = next(asking)
    assert query.step == "choice"
    scores = query.statistic.evaluate(Selection(engines.open(X, Y), WHOLE))
    with pytest.raises(StopIteration) as stop:
        asking.send(Released("choice", np.array([float(np.argmax(scores))]), 0.0))
    return query.statistic, scores * query.statistic.unit, stop.value.value


def test_the_best_model_is_chosen():
    for models, best in (([NULL, POOR, GOOD], 2), ([NULL, GOOD, POOR], 1), ([NULL, POOR], 0), ([GOOD, NULL, POOR], 0)):
        assert _asked(VIEW, Squared(), models, 3.0, BITS)[2] == best


@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), Logistic()], ids=lambda loss: loss.name)
def test_scores_are_clamped_sums_of_improvements(loss):
    statistic, scores, _ = _asked(VIEW, loss, [NULL, POOR, GOOD], 0.7, BITS)
    assert type(statistic) is Clamped
    Z, t = VIEW.rows(X), VIEW.target(Y)
    values = np.stack([loss.value(Z @ model, t) for model in (NULL, POOR, GOOD)], axis=1)
    expected = np.clip(values[:, :1] - values, -0.7, 0.7).sum(axis=0)
    np.testing.assert_allclose(scores, expected, atol=1e-6)


@pytest.mark.parametrize("lean", [0.0, 0.2])
def test_two_models_duel(lean):
    """Their scores are opposite, hence twice as far apart as beside a score of 0; the handicap is as many records."""
    statistic, scores, _ = _asked(VIEW, Squared(), [NULL, GOOD], 0.7, BITS, handicap=20.0, lean=lean)
    Z, t = VIEW.rows(X), VIEW.target(Y)
    gain = np.clip(Squared().value(Z @ NULL, t) - Squared().value(Z @ GOOD, t) + lean, -0.7, 0.7).sum()
    np.testing.assert_allclose(scores, [-gain, gain - 2 * 20.0 * 0.7], atol=1e-6)
    assert statistic.sensitivity("linf") == 2.0 * 2**BITS


def test_models_without_an_intercept():
    view = View(3)
    rows, _ = improvement(view, Squared(), [NULL[:3], GOOD[:3]]).parts(X, Y)
    np.testing.assert_allclose(rows[:, 1], 0.5 * Y**2 - 0.5 * (X @ GOOD[:3] - Y) ** 2)


def test_a_handicap_is_taken_from_all_but_the_first():
    statistic, scores, _ = _asked(VIEW, Squared(), [NULL, POOR, GOOD], 3.0, BITS, handicap=20.0)
    plain = _asked(VIEW, Squared(), [NULL, POOR, GOOD], 3.0, BITS)[1]
    assert type(statistic) is Shifted
    np.testing.assert_allclose(scores, plain - [0.0, 60.0, 60.0], atol=1e-6)


@pytest.mark.parametrize("handicap", [N + 1.0, 1e30, 1e300])
def test_a_handicap_of_all_records_leaves_the_first(handicap):
    assert _asked(VIEW, Squared(), [NULL, GOOD], 3.0, BITS, handicap=handicap)[2] == 0


def test_a_faint_advantage_does_not_pass_the_handicap():
    faint = np.array([0.0, 0.0, 1e-3, 0.0])
    assert _asked(VIEW, Squared(), [NULL, faint], 3.0, BITS, handicap=5.0)[2] == 0


@pytest.mark.parametrize("limit", [1e-100, 1e-12, 1e100])
def test_limits_may_be_tiny_or_huge(limit):
    statistic, scores, best = _asked(VIEW, Squared(), [NULL, GOOD], limit, BITS, handicap=3.0)
    assert statistic.unit > 0.0
    assert np.isfinite(scores).all()
    assert best == (1 if limit < 1.0 else 0)  # counted in records that win, or drowned by the handicap


def test_models_that_are_absurd_lose_and_break_nothing():
    absurd = np.array([1e300, -1e300, 1e300, 1e300])
    assert _asked(VIEW, Squared(), [NULL, absurd, GOOD], 3.0, BITS)[2] == 2


def test_dropped_columns_have_no_say():
    view = View(3, centre=[0.0, 5.0, 0.0], scale=[1.0, np.inf, 2.0], intercept=True)
    with_it, without = (
        improvement(view, Squared(), [NULL, model]).parts(X, Y)[0] for model in (GOOD, GOOD * [1, 0, 1, 1])
    )
    np.testing.assert_array_equal(with_it, without)
