"""How a private fit ends: the null model, the choice against it and the last intercept, told exact values."""

import numpy as np
import pytest

from tailguard import engines
from tailguard.domains import L2Ball, WholeSpace
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.errors import ParameterError
from tailguard.losses import Absolute, Hinge, Logistic, Squared
from tailguard.solvers import Released
from tailguard.solvers.base import EVERYWHERE
from tailguard.solvers.ending import Ending, believed_share, end, first_offset
from tailguard.solvers.output_fit import OutputFit
from tailguard.solvers.perturbed_fit import widened
from tailguard.statistics import View
from tests.support.picking import exactly

N, BITS = 4000, 30
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_the_null_model_of_classes(share):
    y = (np.arange(N) < share * N).astype(float)
    offset, steps = exactly(first_offset(View(3, intercept=True), Logistic(), N, BITS), X, y)
    assert steps == ["offset"]
    assert offset == pytest.approx(np.log(share / (1.0 - share)), abs=1e-6)
    margin, _ = exactly(first_offset(View(3, intercept=True), Hinge(0.1), N, BITS), X, y)
    assert share == 0.5 or np.sign(margin) == np.sign(share - 0.5)
    assert abs(margin) <= 1.05


@pytest.mark.parametrize(("loss", "bound"), [(Logistic(), 0.5), (Hinge(0.1), 1.0), (Squared(), 1.0)])
def test_slopes_of_classes_at_zero_are_bounded_by_what_they_are(loss, bound):
    """A wider bound would be noise alone."""
    query = next(first_offset(View(1, intercept=True), loss, N, BITS))
    assert query.statistic.threshold == bound


def _ended(model, y, ending, loss=None, domain=None):
    view = View(1, scale=[1.0], intercept=True)
    return exactly(end(ending, view, loss or Squared(), np.zeros(2), np.array(model), domain or WholeSpace(1)), ROW, y)


ROW = RNG.standard_normal((N, 1))
CHOICE = Ending(N, BITS, limit=2.0, handicap=10.0, width=None)
SETTLED = Ending(N, BITS, limit=None, handicap=0.0, width=50.0)


def test_the_better_of_model_and_null_model_is_kept():
    y = 2.0 * ROW[:, 0] + 0.1 * RNG.standard_normal(N)
    good, steps = _ended([1.8, 0.0], y, CHOICE)
    assert steps == ["choice"]
    assert good.coefficients[0] == pytest.approx(1.8)
    bad, _ = _ended([-3.0, 5.0], y, CHOICE)
    assert bad.coefficients[0] == 0.0
    assert bad.intercept == 0.0
    hardly, _ = _ended([1e-4, 0.0], y, CHOICE)  # ahead, but by less than the handicap
    assert hardly.coefficients[0] == 0.0


def test_the_choice_sees_log_odds_as_they_are_predicted():
    """Nine of ten records gain much by the model; the others lose more than that unless log-odds are held."""
    rows, labels = np.where(np.arange(N) % 10 == 0, -1e6, 3.0)[:, np.newaxis], np.ones(N)
    view, models = View(1, scale=[1.0], intercept=True), (np.zeros(2), np.array([1.0, 0.0]))
    for farthest, kept in ((None, 0.0), (3.0, 1.0)):
        ending = Ending(N, BITS, limit=1e7, handicap=0.0, width=None, farthest=farthest)
        found, _ = exactly(end(ending, view, Logistic(), *models, WholeSpace(1)), rows, labels)
        assert found.coefficients[0] == kept
        assert found.prediction_range == ((-3.0, 3.0) if farthest else EVERYWHERE)


def test_the_choice_minds_losses_more_than_gains():
    """One record in five loses ten, the others gain a sixth: worse in the mean, better for a symmetric limit of 0.5."""
    rows, labels = np.where(np.arange(N) % 5 == 0, -10.0, 0.35)[:, np.newaxis], np.ones(N)
    view, models = View(1, scale=[1.0], intercept=True), (np.zeros(2), np.array([1.0, 0.0]))
    for lean, kept in ((0.0, 1.0), (0.35, 0.0)):
        ending = Ending(N, BITS, limit=0.5, handicap=0.0, width=None, lean=lean)
        assert exactly(end(ending, view, Logistic(), *models, WholeSpace(1)), rows, labels)[0].coefficients[0] == kept


def test_a_share_below_its_noise_is_not_believed():
    asking = first_offset(View(1, intercept=True), Logistic(), N, BITS)
    query = next(asking)
    with pytest.raises(StopIteration) as stop:
        asking.send(Released(query.step, np.array([0.5 * N * 1.1]), 40.0))
    assert stop.value.value == pytest.approx(np.log(0.01 / 0.99), abs=1e-6)


@pytest.mark.parametrize(("shift", "kept"), [(10.0, 0.0), (14.0, 0.0), (40.0, 0.875), (-40.0, 0.875)])
def test_a_last_change_of_the_intercept_that_noise_explains_is_none(shift, kept):
    asking = end(SETTLED, View(1, scale=[1.0], intercept=True), Squared(), np.zeros(2), np.zeros(2), WholeSpace(1))
    query = next(asking)
    while query.step != "intercept":
        query = asking.send(Released(query.step, np.zeros(1), 1.0))
    with pytest.raises(StopIteration) as stop:
        asking.send(Released(query.step, np.array([shift]), 10.0))
    assert stop.value.value.intercept == pytest.approx(-kept * shift / N)


@pytest.mark.parametrize("exponential", [True, False])
@pytest.mark.parametrize("share", [0.005, 0.02, 0.05, 0.4])
def test_a_share_is_the_mean_of_those_that_noise_may_have_moved_there(share, exponential):
    true = np.linspace(0.0, 1.0, 200_001)
    far = np.abs(true - share) / 0.01
    weights = np.exp(-far if exponential else -0.5 * far**2)
    found = believed_share(share, 0.01, exponential=exponential)
    assert found == pytest.approx(max(np.average(true, weights=weights), 0.01), rel=1e-3)
    assert believed_share(1.0 - share, 0.01, exponential=exponential) == pytest.approx(1.0 - found)


@pytest.mark.parametrize("noise", [0.0, 1e-12, 0.1, 1e9])
def test_a_share_is_a_share_whatever_was_released(noise):
    for share in (-1e12, -0.1, 0.0, 0.3, 1.0, 1e12):
        found = believed_share(share, noise, exponential=False)
        assert 0.0 <= found <= 1.0
        assert (found <= 0.5) == (share < 0.5) or found == 0.5


def test_without_a_choice_the_model_stays():
    kept, steps = _ended([-3.0, 5.0], ROW[:, 0], Ending(N, BITS, None, 0.0, None))
    assert steps == []
    assert kept.coefficients[0] == -3.0
    assert kept.intercept == 5.0


def test_the_intercept_makes_up_for_skew():
    noise = RNG.lognormal(size=N) - 1.0  # median 0, mean 0.65
    settled, steps = _ended([1.0, 0.0], ROW[:, 0] + noise, SETTLED)
    assert steps == ["residual level", "intercept"]
    assert settled.intercept == pytest.approx(noise.mean(), abs=0.05)
    assert settled.coefficients[0] == 1.0


def test_residuals_are_of_size_one_unless_many_say_otherwise():
    """A pick that falls on a size of 2⁸ makes the intercept noise of that size."""
    rng = np.random.default_rng(6)
    y = np.where(rng.random(N) < 0.3, 1.0 + rng.lognormal(size=N), 0.0)
    ending = Ending(N, BITS, limit=None, handicap=0.0, width=3.0, noise=2.0 * N / 55.0)
    queries = []
    for _ in range(300):
        asking = end(ending, View(1, scale=[1.0], intercept=True), Squared(), np.zeros(2), np.zeros(2), WholeSpace(1))
        query = next(asking)
        scores = query.statistic.evaluate(Selection(engines.open(ROW, y), WHOLE)) * query.statistic.unit
        pick = float(np.argmax(0.5 * 55.0 / N * scores + rng.gumbel(size=scores.size)))
        queries.append(asking.send(Released(query.step, np.array([pick]), 0.0)).statistic.threshold)
    assert max(queries) < 3.0 * 2.0**5
    assert 1.0 < np.median(queries) < 12.0


def test_the_answer_is_in_the_domain():
    found, _ = _ended([5.0, 0.0], 5.0 * ROW[:, 0], CHOICE, domain=L2Ball(1, 2.0))
    assert found.coefficients[0] == pytest.approx(2.0)


def test_only_kinks_are_rounded():
    assert widened(Hinge(0.1), 0.5) == Hinge(0.5)
    assert widened(Hinge(0.7), 0.5) == Hinge(0.7)
    assert widened(Absolute(0.1, relative=True), 0.5) == Absolute(0.5, relative=True)
    assert widened(Squared(), 0.5) == Squared()


def test_phases_are_needed():
    with pytest.raises(ParameterError, match="'phases'"):
        OutputFit(Squared(), WholeSpace(1), N, 1, BITS, True, None, 0.0, 1.0, (), CHOICE)
