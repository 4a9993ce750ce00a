"""The refit that all practical recipes share, told exact or absurd values."""

import numpy as np
import pytest

from tailguard.domains import L2Ball, WholeSpace
from tailguard.losses import Biweight, Huber, Logistic, Squared
from tailguard.plans import Problem
from tailguard.privacy import Privacy
from tailguard.recipes.draft import assemble
from tailguard.recipes.refit import RefitPlan
from tailguard.solvers import Released
from tailguard.solvers.clip_level import ClipLevel
from tailguard.solvers.oracles import Clip, Truncate
from tailguard.solvers.refit import LEAST, TRUST, Levels, Refit, refit, scaled_loss
from tailguard.statistics import Clipped, View
from tests.support.exactly import answered, told_exactly

N, K, BITS = 3000, 4, 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, K)) @ (np.eye(K) + 0.3)
TRUTH = np.array([1.0, -0.5, 0.25, 0.0])
Y = X @ TRUTH + 0.7 + 0.3 * RNG.normal(size=N)
VIEW = View(K, intercept=True)
SOUGHT = Levels(ClipLevel(1e-4), ClipLevel(1e-4), ClipLevel(1e-4))
KNOWN = Levels(None, None, None)


def _setting(levels=SOUGHT, steps=40, refreshes=3, n=N, oracle=None):
    return Refit(n, BITS, oracle or Clip(), levels, 1e-6, steps, refreshes)


def _least_squares(rows, y):
    return np.linalg.lstsq(rows, y, rcond=None)[0]


@pytest.mark.parametrize("oracle", [Clip(), Truncate()], ids=["clip", "truncate"])
def test_without_noise_it_is_least_squares(oracle):
    point, _ = told_exactly(refit(_setting(oracle=oracle), Squared(), VIEW), X, Y)
    np.testing.assert_allclose(point, _least_squares(VIEW.rows(X), Y), atol=3e-3)


def test_levels_may_be_known():
    point, queries = told_exactly(refit(_setting(KNOWN), Squared(), VIEW, known=(100.0, 100.0)), X, Y)
    np.testing.assert_allclose(point, _least_squares(VIEW.rows(X), Y), atol=1e-4)
    assert [query.step for query in queries] == ["gram", *["gradient"] * 40]
    assert {query.statistic.threshold for query in queries[1:]} == {100.0}


@pytest.mark.parametrize("view", [
    View(K),
    View(K, columns=[2, 0], intercept=True),
    View(K, basis=np.linalg.qr(RNG.normal(size=(K, 2)))[0], intercept=True),
    View(K, centre=np.ones(K), scale=[1.0, 2.0, np.inf, 0.5], intercept=True, target_centre=0.5, target_scale=3.0),
], ids=["origin", "columns", "basis", "dropped"])  # fmt: skip
def test_any_view_will_do(view):
    levels = SOUGHT if view.intercept else Levels(SOUGHT.row, SOUGHT.gradient, None)
    point, _ = told_exactly(refit(_setting(levels), Squared(), view), X, Y)
    np.testing.assert_allclose(point, _least_squares(view.rows(X), view.target(Y)), atol=5e-3)


def test_a_start_is_a_start():
    best = _least_squares(VIEW.rows(X), Y)
    near, far = (told_exactly(refit(_setting(steps=2), Squared(), VIEW, start=s), X, Y)[0] for s in (best, best + 5.0))
    assert np.linalg.norm(near - best) < 0.05 < np.linalg.norm(far - best)


def test_the_answer_lies_in_the_domain():
    factors, domain = np.array([1.0, 2.0, 0.5, 1.0]), L2Ball(K, 0.4)
    setting = _setting(Levels(SOUGHT.row, SOUGHT.gradient, None))
    point, _ = told_exactly(refit(setting, Squared(), VIEW, domain=domain, factors=factors), X, Y)
    assert domain.contains(point[:K] * factors, tolerance=1e-9)
    assert np.linalg.norm(point[:K] * factors) > 0.39


def test_skewed_noise_does_not_keep_the_intercept():
    """Clipping gradients at a low level leaves a bias; the mean residual, clipped more widely, removes most of it."""
    y = X @ TRUTH + RNG.lognormal(0.0, 1.5, size=N)
    best = _least_squares(VIEW.rows(X), y)[-1]
    levels = [Levels(ClipLevel(0.1), ClipLevel(0.2), residual) for residual in (None, ClipLevel(1e-4))]
    biased, corrected = (
        abs(told_exactly(refit(_setting(level), Squared(), VIEW), X, y)[0][-1] - best) for level in levels
    )
    assert corrected < 0.25 * biased


@pytest.mark.parametrize("loss", [Logistic(), Huber(0.5), Biweight(3.0)], ids=lambda loss: loss.name)
def test_clip_levels_stay_between_a_part_and_all_of_a_bounded_slope(loss):
    target = (Y > 0).astype(float)
    for noise in (1e-9, 1.0):
        _, queries = told_exactly(refit(_setting(), loss, VIEW), X, target, noise=noise)
        radius = next(query.statistic.radius for query in queries if query.step == "gram")
        levels = [query.statistic.threshold for query in queries if query.step == "gradient"]
        assert all(LEAST * (1 - 1e-9) <= level / (loss.lipschitz * radius) <= 1 + 1e-9 for level in levels)


@pytest.mark.parametrize("value", [1e6, -1e18])
def test_no_step_is_longer_than_trusted(value):
    points = []

    def told(query):
        if query.step == "gradient":
            points.append(query.statistic.field.field.point)
        return Released(query.step, np.full(query.statistic.dimension, value), 1.0)

    found = answered(refit(_setting(KNOWN, steps=5), Squared(), VIEW, known=(1.0, 1.0)), told)
    assert np.max(np.linalg.norm(np.diff(points, axis=0), axis=1)) <= TRUST * (1 + 1e-9)
    assert np.linalg.norm(found) <= 5 * TRUST * (1 + 1e-9)


RECORDS = {
    "zeros": (np.zeros((50, K)), np.zeros(50)),
    "a constant target": (X[:50], np.full(50, 3.0)),
    "missing": (np.full((50, K), np.nan), np.full(50, np.nan)),
    "a missing column": (np.where(np.arange(K) == 1, np.nan, X[:50]), Y[:50]),
    "huge": (1e300 * X[:50], 1e300 * Y[:50]),
    "tiny": (1e-300 * X[:50], 1e-300 * Y[:50]),
    "one record": (X[:1], Y[:1]),
}


@pytest.mark.parametrize("records", RECORDS.values(), ids=RECORDS.keys())
@pytest.mark.parametrize("noise", [1e-12, 1e-3, 1e6])
@pytest.mark.parametrize("levels", [SOUGHT, KNOWN], ids=["sought", "known"])
def test_nothing_breaks_it(records, noise, levels):
    setting = _setting(levels, steps=6, n=len(records[0]))
    for loss in (Squared(), Logistic(), Biweight(1e-13)):
        point, _ = told_exactly(refit(setting, loss, VIEW), *records, noise=noise)
        assert point.shape == (K + 1,)
        assert np.isfinite(point).all()


@pytest.mark.parametrize(("steps", "refreshes"), [(1, 1), (4, 3), (12, 3), (5, 5)])
def test_levels_are_sought_again_at_equal_distances(steps, refreshes):
    setting = _setting(steps=steps, refreshes=refreshes)
    starts = [step for step in range(steps) if setting.refreshed(step)]
    assert len(starts) == refreshes
    assert starts[0] == 0
    assert np.ptp(np.diff([*starts, steps])) <= 1
    assert not any(_setting(KNOWN, steps).refreshed(step) for step in range(steps))


@pytest.mark.parametrize("oracle", [Clip(), Truncate()], ids=["clip", "truncate"])
@pytest.mark.parametrize("steps", [1, 7, None])
@pytest.mark.parametrize(("sought", "correct"), [(True, True), (True, False), (False, True), (False, False)])
def test_questions_follow_the_plan(sought, correct, steps, oracle):
    privacy = Privacy(20.0, 1e-6)
    problem = Problem(Squared(), WholeSpace(K), N, K, intercept=True)
    plan = RefitPlan(problem, privacy, oracle, K + 1, 0.6, 0.6, correct, steps, sought)
    assert sum(draft.share for draft in plan.drafts) == pytest.approx(0.6)
    assert all(draft.share > 0.0 for draft in plan.drafts)
    planned = assemble(plan.drafts, privacy, plan.setting.bits)
    _, queries = told_exactly(refit(plan.setting, Squared(), VIEW), X, Y)
    assert [query.step for query in queries] == [step.name for step in planned]
    for query, step in zip(queries, planned, strict=True):
        assert (query.statistic.kind, query.statistic.dimension) == (step.statistic, step.dimension)
        assert query.statistic.sensitivity("l2") == step.sensitivity


def test_steps_get_shares_that_grow_with_their_number():
    problem = Problem(Squared(), WholeSpace(K), N, K, intercept=True)
    drafts = RefitPlan(problem, Privacy(20.0, 1e-6), Clip(), K + 1, 1.0, 1.0, True, 5).drafts
    shares = [draft.share for draft in drafts if draft.name == "gradient"]
    np.testing.assert_allclose(np.array(shares) / shares[0], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert all(draft.statistic is Clipped for draft in drafts if draft.name == "gradient")


def test_a_loss_is_taken_to_the_units_of_the_view():
    view = View(1, target_scale=4.0)
    assert scaled_loss(Huber(2.0), view) == Huber(0.5)
    assert scaled_loss(Squared(), view) == Squared()
    assert scaled_loss(Logistic(), view) == Logistic()
