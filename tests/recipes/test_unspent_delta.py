"""`method="auto"` with too few rows for any recipe with a δ: the recipe without one, where it has a plan and pays."""

from dataclasses import replace

import numpy as np
import pytest

import tailguard as tg
from benchmarks.datasets.linear import Linear
from tailguard.plans import Moment, check_certificate, dumps, loads
from tailguard.privacy import Privacy

FEW = [(442, 10, 1.0), (235, 1, 2.0), (400, 1, 1.0), (800, 5, 0.5), (250, 11, 2.0)]
each = pytest.mark.parametrize(("n", "d", "epsilon"), FEW)
LAWS = [("gaussian", None, 0.5), ("t3", None, 2.0), ("lognormal1", None, 0.5), ("gaussian", "skewed", 2.0)]
SEEDS = range(500, 512)


@each
def test_the_plan_is_that_without_a_delta_and_says_so(n, d, epsilon):
    plan, pure = (tg.LinearRegression(epsilon=epsilon, delta=delta).plan(n, d) for delta in (1e-6, 0.0))
    assert plan.privacy == Privacy(epsilon, 0.0)
    assert plan.sources[-1][0] == "delta"
    assert "1e-06" in plan.sources[-1][1]
    assert replace(plan, sources=pure.sources) == pure
    assert 0.0 < plan.predicted_error < 1.0
    found = tg.verify(loads(dumps(plan)))
    assert found.delta == 0.0
    assert 0.98 * epsilon <= found.epsilon <= epsilon


@pytest.mark.parametrize("make", [tg.LeastAbsoluteDeviations, lambda: tg.RobustRegression("huber")])
def test_other_regressions_of_numbers_do_without_too(make):
    assert make().plan(442, 5).privacy == Privacy(1.0, 0.0)


def test_a_fit_its_certificate_and_its_session_agree(tmp_path):
    rng = np.random.default_rng(500)
    X = rng.standard_t(4, size=(442, 3))
    session = tg.Session(tmp_path / "ledger.db", epsilon=1.0, delta=1e-6)
    model = tg.LinearRegression(session=session).fit(X, X @ [1.0, -1.0, 0.5] + rng.standard_normal(442))
    assert model.plan_.privacy == Privacy(1.0, 0.0)
    assert model.privacy_.delta == 0.0
    model.release_.ledger.check(model.plan_)
    assert check_certificate(model.release_.certificate()).guarantee == model.privacy_
    (charge,) = session.statement().charges
    assert charge.epsilon == pytest.approx(1.0, rel=1e-6)
    assert charge.delta == 0.0
    with pytest.raises(tg.BudgetError):
        tg.LinearRegression(epsilon=0.1, session=session).fit(X, X[:, 0])


def test_minimize_does_without_where_an_estimator_would():
    rng = np.random.default_rng(501)
    X = rng.standard_normal((450, 2))
    release = tg.minimize(
        tg.losses.Squared(), tg.domains.WholeSpace(2), (X, X[:, 0]), Privacy(1.0, 1e-6), intercept=True, random_state=0
    )
    assert (release.plan.recipe, release.guarantee.delta) == ("objective_perturbation", 0.0)


REFUSED = {
    "by name": tg.LinearRegression(method="newton"),
    "theorem's parameters": tg.LinearRegression(parameters="paper"),
    "not convex": tg.RobustRegression("biweight"),
    "without a choice of the null model": tg.LinearRegression(moment=Moment(2.0, 1.0)),
}


@pytest.mark.parametrize("model", REFUSED.values(), ids=REFUSED)
def test_what_was_not_asked_for_or_does_not_pay_is_refused_as_before(model):
    with pytest.raises(tg.TailguardError):
        model.plan(442, 3)


@pytest.mark.parametrize(("n", "d"), [(390, 1), (399, 5), (442, 12)])
def test_so_few_rows_are_refused_although_a_plan_without_a_delta_exists(n, d):
    with pytest.raises(tg.BudgetError, match=r"or δ = 0\.$"):
        tg.LinearRegression().plan(n, d)
    tg.LinearRegression(delta=0.0).plan(n, d)


def test_a_delta_that_can_be_spent_is_spent():
    assert tg.LinearRegression().plan(520, 3).privacy.delta == 1e-6
    assert tg.LogisticRegression().plan(200, 3).privacy.delta == 1e-6
    assert tg.LinearRegression(fit_intercept=False).plan(420, 3).privacy.delta == 1e-6


def test_candidates_of_a_selection_share_one_budget_and_are_refused():
    X = np.random.default_rng(502).standard_normal((700, 2))
    with pytest.raises(tg.BudgetError, match="one of several candidates"):
        tg.select([tg.LinearRegression(), (tg.LinearRegression(), [0])], X, X[:, 0], random_state=0)


@pytest.mark.parametrize(("n", "d", "epsilon"), [(400, 1, 1.0), (400, 5, 1.0), (400, 10, 1.0), (235, 5, 2.0)])
def test_the_model_is_better_than_the_null_model(n, d, epsilon):
    """Test risks ÷ the null model's, for a signal as strong as the noise: below 1 on average, none far above.

    With 150 seeds a law no fit of 600 was more than twice as bad at n·ε = 400; at n·ε = 300 one of 100 was.
    """
    for law, noise, decades in LAWS:
        task = Linear(law, n, d, noise, decades=decades)
        risks = [_risk(task, seed, epsilon) for seed in SEEDS]
        assert np.mean(risks) < 1.0
        assert max(risks) < 1.3


def _risk(task, seed, epsilon):
    drawn = task.draw(seed)
    model = tg.LinearRegression(epsilon=epsilon, random_state=seed).fit(drawn.X, drawn.y)
    assert model.privacy_.delta == 0.0
    truth = drawn.truth
    expected = truth.centre + truth.spread * ((drawn.X_test / truth.units - task.mean) @ truth.slopes)
    ours, null = (np.mean((found - expected) ** 2) for found in (model.predict(drawn.X_test), drawn.y.mean()))
    return (truth.spread**2 + ours) / (truth.spread**2 + null)
