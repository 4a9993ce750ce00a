"""Practical recipes of pure ε: what they cost, what they refuse, which numbers they choose, and what they reach."""

import math
import pickle

import numpy as np
import pytest

import tailguard as tg
from tailguard.domains import Sparse, WholeSpace
from tailguard.errors import BudgetError, ParameterError
from tailguard.losses import Biweight, CustomLoss, Huber, Logistic, Squared
from tailguard.plans import Moment, Problem, dumps, loads, verify
from tailguard.privacy import Privacy
from tailguard.recipes import output_perturbation, pure_fit, recipe
from tests.support.registry_plans import CASES

OURS = ("objective_perturbation", "output_perturbation")
NAMES = (*OURS, "double_output_perturbation", "gradient_mapping", "approximate_exponential")
both = pytest.mark.parametrize("name", OURS)


def problem(n=10_000, d=3, loss=None, intercept=True, moment=None, domain=None):
    return Problem(loss or Squared(), domain or WholeSpace(d), n, d, intercept=intercept, moment=moment)


def plan(name, facts=None, epsilon=1.0):
    return recipe(name).plan("regression", facts or problem(), Privacy(epsilon, 0.0), "practical")


def found(facts, epsilon=1.0):
    return pure_fit.pure_fit(facts, Privacy(epsilon, 0.0), "test")


@pytest.mark.parametrize("name", NAMES)
def test_verify_finds_no_delta_and_no_more_epsilon_than_was_asked(name):
    cases = [case for case in CASES if case.plan.recipe == name and case.plan.privacy.pure]
    assert cases
    for case in cases:
        cost = verify(case.plan)
        assert cost.delta == 0.0
        assert cost.epsilon <= case.plan.privacy.epsilon


@both
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 50.0])
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=["squared", "logistic"])
def test_the_whole_budget_is_spent_at_any_size(name, loss, epsilon):
    for n, d in ((20_000, 1), (20_000, 5), (1_000_000, 20)):
        cost = verify(plan(name, problem(n, d, loss), epsilon))
        assert 0.98 * epsilon <= cost.epsilon <= epsilon


@both
@pytest.mark.parametrize(("n", "d", "epsilon"), [(100, 2, 1.0), (1000, 40, 1.0), (5000, 3, 0.01)])
def test_refusals_say_how_many_rows_would_do(name, n, d, epsilon):
    with pytest.raises(BudgetError, match=rf"cannot be carried by n = {n} rows .* about (\d+) rows") as error:
        plan(name, problem(n, d), epsilon)
    rows = int(str(error.value).split("about ")[1].split(" ")[0])
    assert plan(name, problem(rows, d), epsilon)
    assert rows < 100 * n


@both
@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"loss": Biweight(1.0)}, "'loss'"),
        ({"loss": CustomLoss("any", lambda point, rows, target: rows)}, "'loss'"),
        ({"loss": type("Claims", (Logistic,), {"smoothness": 1e-9})()}, "'loss'"),
        ({"domain": Sparse(3, 1)}, "'domain'"),
    ],
)
def test_what_the_proofs_ask_for(name, changes, match):
    with pytest.raises(ParameterError, match=match):
        plan(name, problem(**changes))


def test_units_get_finer_with_the_budget():
    chosen = [found(problem(n, 5)).units.columns for n in (300, 800, 2000, 3000)]
    assert chosen == ["common", "averaged", "scaled", "own"]
    assert found(problem(10**4, 5)).units.feature_grid is None
    assert found(problem(10**7, 5)).units.feature_grid is not None
    assert not found(problem(10**4, 5, intercept=False)).units.centred
    assert not found(problem(10**4, 5, Logistic())).units.target


def test_the_spread_of_the_target_takes_more_than_other_picks_where_that_is_cheap():
    shares = [
        next(step.share for step in found(problem(n, 5)).before if step.name == "target scale")
        for n in (500, 3000, 10_000, 20_000, 10**6)
    ]
    np.testing.assert_allclose(shares, [0.11, 0.02, 0.02, 0.015, 0.005])


def test_columns_far_off_are_found_at_small_budgets():
    """Years, with a hundred rows and half of an ε for each column."""
    for seed in range(900, 905):
        rng = np.random.default_rng(seed)
        X = 1990.0 + 12.0 * rng.standard_normal((6000, 5))
        y = (X - 1990.0).sum(axis=1) / 12.0 + rng.standard_normal(6000)
        model = tg.LinearRegression(epsilon=0.5, delta=0.0, random_state=seed).fit(X, y)
        assert model.score(X, y) > 0.7


def test_leading_columns_take_less_of_a_larger_budget_and_are_sought_more_often():
    sizes = (4000, 5000, 10_000, 20_000, 80_000, 10**6)
    none, *sought = ([s for s in found(problem(n, 20)).before if s.name == "leading columns"] for n in sizes)
    assert none == []
    shares = [step.share for (step,) in sought]
    assert shares[0] == pytest.approx(0.06)
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.002
    assert [step.count for (step,) in sought] == [1, 1, 1, 3, 3]


def test_the_clip_level_grows_with_n_epsilon_and_never_beyond_the_steepest_slope():
    for loss in (Squared(), Huber(1.0), Logistic()):
        clips = [found(problem(n, 5, loss)).clip for n in (1000, 10**5, 10**7, 10**9)]
        assert clips == sorted(clips)
        assert clips[-1] > clips[0]
        curvatures = [found(problem(n, 5, loss)).curvature for n in (1000, 10**7)]
        assert 1.0 <= curvatures[0] < curvatures[1]
        assert loss.lipschitz is None or clips[-1] <= math.sqrt(found(problem(10**9, 5, loss)).curvature)


@both
def test_a_known_moment_replaces_the_units(name):
    moment = Moment(2.0, 7.0, "norm")
    known = plan(name, problem(moment=moment))
    assert known.solver.units is None
    assert {step.name for step in known.steps} <= {"common scale", "fit", "solution"}
    assert found(problem(moment=moment)).clip == pytest.approx(7.0 * max(0.5, 0.07 * math.sqrt(10_000 / 4)))
    assert found(problem(moment=Moment(4.0, 7.0, "norm"))).clip < found(problem(moment=moment)).clip
    coordinate = found(problem(moment=Moment(2.0, 7.0, "coordinate")))
    assert coordinate.clip == pytest.approx(2.0 * found(problem(moment=moment)).clip)
    assert found(problem(moment=Moment(4.0))).units is not None  # an order alone says nothing of a size


@both
@pytest.mark.parametrize("bound", [0.5, 50.0])
def test_a_known_moment_fits_and_a_wrong_one_costs_accuracy_alone(name, bound):
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(20_000, 2))
    y = X @ [1.0, -1.0] + rng.standard_t(3, size=20_000)
    model = tg.LinearRegression(
        epsilon=2.0, delta=0.0, method=name, moment=Moment(2.0, bound, "norm"), fit_intercept=False, random_state=0
    ).fit(X, y)
    assert model.privacy_.delta == 0.0
    assert model.privacy_.epsilon <= 2.0
    assert np.abs(model.coef_ - [1.0, -1.0]).max() < 0.3


@both
def test_plans_and_releases_travel(name):
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(2000, 2))
    model = tg.LinearRegression(epsilon=3.0, delta=0.0, method=name, random_state=0).fit(X, X[:, 0])
    again = loads(dumps(model.plan_))
    assert again == model.plan_
    assert again.solver == model.plan_.solver
    release = pickle.loads(pickle.dumps(model.release_))
    np.testing.assert_array_equal(release.estimate.coefficients, model.coef_)
    assert release.plan == model.plan_
    assert release.guarantee == model.privacy_


def test_phases_go_from_small_disjoint_blocks_to_half_of_the_records():
    made = plan("output_perturbation", problem(20_000))
    places = [(step.first / step.blocks, (step.first + step.count) / step.blocks)
              for step in made.steps if step.name == "solution"]  # fmt: skip
    assert places == [(0.0, 1 / 16), (1 / 16, 1 / 8), (1 / 8, 1 / 4), (1 / 4, 1 / 2), (1 / 2, 1.0)]
    assert len({step.multiplier for step in made.steps if step.name == "solution"}) == 1  # each spends the same ε
    ridges = [phase.ridge for phase in made.solver.phases]
    assert min(ridges) > 0.0
    assert len(plan("output_perturbation", problem(130, 1), 30.0).solver.phases) == 2


def test_answers_of_a_phase_may_be_repeated():
    thrice = output_perturbation.plan_regression(problem(20_000), Privacy(1.0, 0.0), repetitions=3)
    assert verify(thrice).epsilon <= 1.0
    assert {step.count for step in thrice.steps if step.name == "solution"} == {3}


def test_a_first_fit_measures_gradients_where_slopes_have_no_bound():
    names = [step.name for step in plan("objective_perturbation").steps]
    assert names.index("rough fit") < names.index("gradient level") < names.index("fit")
    for small in (
        plan("objective_perturbation", problem(600)),
        plan("objective_perturbation", problem(loss=Logistic())),
    ):
        assert "rough fit" not in {step.name for step in small.steps}


@both
@pytest.mark.parametrize("d", [1, 4])
def test_models_on_any_scale_are_found(name, d):
    rng = np.random.default_rng(d)
    units = 10.0 ** rng.uniform(-3.0, 3.0, d)
    X = rng.standard_t(3, size=(20_000, d)) * units + 5.0 * units
    y = 1000.0 + X @ (1.0 / units) + rng.standard_t(3, size=20_000)
    model = tg.LinearRegression(epsilon=2.0, delta=0.0, method=name, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_ * units, np.ones(d), atol=0.15)
    assert model.intercept_ + model.coef_ @ (5.0 * units) == pytest.approx(1000.0 + 5.0 * d, abs=0.3)


@pytest.mark.parametrize("rare", [True, False])
def test_rows_with_rare_large_numbers_of_an_unscaled_column_are_held(rare):
    """No pick sees a column that one row in 25 has: in its own units its slope is noise, and so are those rows."""
    for seed in range(800, 806):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((8000, 6))
        X[:, 5] = np.where(rng.random(8000) < 0.04, 2000.0 + 10.0 * X[:, 5], 0.0) if rare else X[:, 5]
        y = X[:, :5].sum(axis=1) + rng.standard_normal(8000)
        model = tg.LinearRegression(epsilon=0.2, delta=0.0, random_state=seed).fit(X, y)
        assert (model.feature_range_ is not None) == rare
        assert np.mean((y - model.predict(X)) ** 2) < 0.5 * y.var()


def test_how_large_rare_entries_are_is_asked_where_it_is_cheap():
    shares = [
        [step.share for step in found(problem(n, 5)).after if step.name == "rare rows"] for n in (14_000, 15_000, 10**6)
    ]
    assert shares == [[], [0.02], [0.005]]
    plain = Problem(Squared(), WholeSpace(5), 10**5, 5, intercept=True, scales=tg.Scales(features=(1.0,) * 5))
    assert "rare rows" not in {step.name for step in found(plain).after}


def test_rows_with_rare_entries_are_believed_where_these_were_seen():
    """One record in ten has a number between 1 and 1000, whose slope is that of the others."""
    scores = []
    for seed in range(900, 904):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40_000, 6))
        X[:, 5] = np.where(rng.random(40_000) < 0.1, 5.0 * np.exp(1.5 * rng.standard_normal(40_000)), 0.0)
        y = X.sum(axis=1) + rng.standard_normal(40_000)
        model = tg.LinearRegression(epsilon=1.0, delta=0.0, random_state=seed).fit(X, y)
        assert model.coef_[5] == pytest.approx(1.0, abs=0.1)
        scores.append(model.score(X, y))
        assert model.feature_range_.radius < 5000.0
    assert np.median(scores) > 0.8  # with rows drawn back to ten units: 0.1
    assert np.min(scores) > 0.5


@pytest.mark.parametrize("name", ["objective_perturbation", "output_perturbation", "gradient_mapping"])
def test_the_size_of_rare_entries_is_hardly_ever_taken_for_one_beyond_all_of_them(name):
    """One record in ten has a 5; every larger number has the same rank."""
    for seed in range(900, 906):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.standard_normal(20_000), np.where(rng.random(20_000) < 0.1, 5.0, 0.0)])
        y = X.sum(axis=1) + rng.standard_normal(20_000)
        model = tg.LinearRegression(epsilon=1.0, delta=0.0, method=name, random_state=seed).fit(X, y)
        assert "rare rows" in {step.name for step in model.plan_.steps}
        assert 100.0 < model.feature_range_.radius < 1000.0


def _taken(facts, epsilon, gains):
    """Whether the exact choice takes a model that improves on the null model by these numbers, record by record."""
    ending = found(facts, epsilon).ending
    scores = np.clip(np.asarray(gains) + ending.lean, -ending.limit, ending.limit).sum()
    return scores > ending.n * ending.lean + ending.handicap * ending.limit


def test_a_model_that_is_certain_of_the_wrong_class_of_a_few_records_is_not_taken():
    """Losses count further than gains, and at large n·ε as far as they go, or a little on most outweighs them."""
    for n in (10_000, 100_000, 1_000_000):
        facts = problem(n, 5, Logistic())
        share = np.arange(n) < 0.03 * n
        assert _taken(facts, 1.0, np.where(share, -0.5, 0.1))
        assert _taken(facts, 1.0, np.where(share, 0.0, 0.02))
        assert not _taken(facts, 1.0, np.zeros(n))
        assert not _taken(facts, 1.0, np.where(np.arange(n) < 0.15 * n, -20.0, 0.1))
        assert not _taken(facts, 1.0, np.where(share, -8.0, 0.2)) or n == 10_000


def test_how_far_a_record_counts_in_the_choice_grows_with_n_epsilon():
    for loss in (Squared(), Logistic()):
        endings = [found(problem(n, 5, loss)).ending for n in (10_000, 100_000, 1_000_000, 10_000_000)]
        limits = [ending.limit for ending in endings]
        assert limits == sorted(limits)
        assert limits[-1] > 50.0 * limits[0]
        noise = [ending.limit * ending.handicap / ending.n for ending in endings]
        assert max(noise) < 0.02  # of a loss of about 1


@pytest.mark.parametrize("budget", [1.0, 0.1])
@pytest.mark.parametrize("gaps", [np.nan, np.inf])
def test_a_column_without_numbers_is_dropped(budget, gaps):
    """It took all records with it, so that all slopes were 0."""
    rng = np.random.default_rng(12)
    X = np.column_stack([rng.standard_normal((20_000, 3)), np.full(20_000, gaps)])
    score = X[:, :3] @ [1.0, 2.0, 3.0]
    linear = tg.LinearRegression(epsilon=budget, delta=0.0, random_state=0).fit(X, score + rng.standard_normal(20_000))
    np.testing.assert_allclose(linear.coef_, [1.0, 2.0, 3.0, 0.0], atol=0.05 / budget**0.5)
    classes = tg.LogisticRegression(epsilon=budget, delta=0.0, random_state=0).fit(X, score > 0.0)
    assert classes.coef_[3] == 0.0
    assert np.corrcoef(classes.coef_[:3], [1.0, 2.0, 3.0])[0, 1] > 0.95
