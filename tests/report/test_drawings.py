"""Drawings of the report are where the numbers are."""

import re

import numpy as np
import pytest

import tailguard as tg
from tailguard.report import html
from tailguard.report.drawings import curve, marks


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20_000, 3))
    return tg.LinearRegression(epsilon=1.0, random_state=2).fit(X, X @ [5.0, -5.0, 0.0] + rng.standard_normal(20_000))


def test_marks_show_which_side_of_zero_an_interval_is_on(model):
    right, left, both, intercept = marks(model.release_)
    assert right.zero < right.low < right.value < right.high
    assert left.low < left.value < left.high < left.zero
    for mark in (both, intercept):
        assert 0.0 <= min(mark.low, mark.zero) <= max(mark.high, mark.zero) <= 100.0
    page = html(model.release_)
    assert page.count('class="reach"') == 4


def test_a_release_without_intervals_has_no_marks():
    X = np.random.default_rng(3).standard_normal((5_000, 2))
    release = tg.LinearRegression(epsilon=4.0, delta=0.0, random_state=3).fit(X, X.sum(axis=1)).release_
    assert release.estimate.uncertainty is None
    assert marks(release) == ()
    assert 'class="reach"' not in html(release)


def test_the_curve_falls_and_marks_the_plan(model):
    found = curve(model.plan_)
    heights = [y for _, y in found.points]
    assert heights == sorted(heights), "a lower error is drawn lower, which is a larger y"
    assert found.here in found.points
    assert all(0.0 <= x <= found.width and 0.0 <= y <= found.height for x, y in found.points)
    assert [float(tick.label) for tick in found.across] == [0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0][-len(found.across) :]
    places = re.findall(r"<polyline points=\"([^\"]*)\"", html(model.release_))
    assert len(places) == 1
    assert len(places[0].split()) == len(found.points)


def test_a_plan_nobody_has_measured_has_no_curve():
    plan = tg.LinearRegression(epsilon=1.0, radius=1.0, parameters="paper", moment=tg.Moment(2, 1.0)).plan(
        n_rows=20_000, n_features=3
    )
    assert curve(plan) is None
