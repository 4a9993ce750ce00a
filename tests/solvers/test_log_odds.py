"""How far log-odds are believed: around 0, around the null model, and never narrower than the null model."""

import math

import numpy as np
import pytest

import tailguard as tg
from tailguard.losses import Hinge, Logistic, Squared
from tailguard.solvers.base import EVERYWHERE
from tailguard.solvers.log_odds import BESIDE, FAINTEST, believed_odds, odds_range


def test_the_budget_says_how_far():
    assert believed_odds(50.0) == pytest.approx(math.log(50.0))
    assert believed_odds(0.0) == pytest.approx(math.log(FAINTEST))


@pytest.mark.parametrize(
    ("offset", "within"),
    [
        (0.0, (-3.0, 3.0)),
        (1.0, (-2.0, 3.0)),
        (-2.0, (-3.0, 1.0)),
        (-4.0, (-4.0 - BESIDE, 0.0)),
        (5.0, (0.0, 5.0 + BESIDE)),
    ],
)
def test_the_range_is_around_zero_and_around_the_null_model(offset, within):
    assert odds_range(Logistic(), offset, 3.0) == pytest.approx(within)


@pytest.mark.parametrize("offset", [-1e300, -5.0, 0.0, 5.0, 1e300])
def test_the_null_model_is_always_within(offset):
    low, high = odds_range(Logistic(), offset, believed_odds(1.0))
    assert low <= min(offset, 0.0) <= max(offset, 0.0) <= high


def test_other_predictions_have_no_such_range():
    assert odds_range(Hinge(0.1), 1.0, 3.0) == odds_range(Squared(), 1.0, 3.0) == EVERYWHERE
    assert odds_range(Logistic(), 1.0, None) == EVERYWHERE


@pytest.mark.parametrize("n", [1500, 8000])
def test_a_few_rows_far_out_are_not_predicted_with_certainty(n):
    rng = np.random.default_rng(600)
    X = rng.standard_normal((n, 4))
    y = rng.random(n) < 1.0 / (1.0 + np.exp(2.0 - X[:, 0]))
    model = tg.LogisticRegression(epsilon=1.0, delta=1e-6, random_state=600).fit(X, y)
    low, high = model.prediction_range_
    assert -8.0 < low < -1.0 < high < 6.0
    odds = model.decision_function(np.vstack([X, 1e6 * X[:2]]))
    assert low <= odds.min() <= odds.max() <= high
