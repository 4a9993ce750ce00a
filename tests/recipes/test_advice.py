"""Advice from public facts: ranked, with refusals that say what would do, and a curve over ε."""

from dataclasses import replace

import pytest

import tailguard as tg
from tailguard.errors import ParameterError
from tailguard.plans import Problem
from tailguard.recipes.prediction import FORMULAS, risk


@pytest.fixture(scope="module")
def advice():
    return tg.advise(20_000, 4, epsilons=(0.2, 2.0))


def test_the_table_is_ranked_and_marks_the_automatic_choice(advice):
    errors = [option.predicted for option in advice.options if option.predicted is not None]
    assert errors == sorted(errors)
    assert advice.options[0] == advice.best
    assert sum(option.automatic for option in advice.options) == 1
    plan = tg.LinearRegression().plan(20_000, 4)
    assert (advice.best.recipe, advice.best.predicted) == (plan.recipe, plan.predicted_error)


def test_the_curve_falls_and_says_what_is_assumed(advice):
    assert advice.curve[1].predicted < advice.best.predicted < advice.curve[0].predicted
    assert "signal to noise 1\n" in str(advice)


def test_predictions_follow_the_facts(advice):
    problem, privacy, recipe = advice.problem, advice.privacy, advice.best.recipe
    assert risk(recipe, problem, privacy, 10.0) == pytest.approx(advice.best.predicted / 10, rel=0.05)
    assert risk("unheard of", problem, privacy) is None


def test_refusals_say_what_would_do():
    advice = tg.advise(300, 6, epsilons=(50.0,))
    assert advice.best.predicted is None
    assert "needs about" in advice.best.refusal
    assert "rows at ε = 1" in advice.best.refusal
    assert tg.verify(tg.LinearRegression().plan(advice.best.rows, 6)).epsilon <= 1.0
    assert advice.curve[0].refusal is None


def test_rows_for_an_error(advice):
    rows = advice.rows_for(0.002)
    few, enough = (replace(advice.problem, n=n) for n in (int(0.8 * rows), rows))
    assert risk("newton", enough, advice.privacy) <= 0.002 < risk("newton", few, advice.privacy)
    assert tg.LinearRegression().plan(advice.rows_for(0.9), 4).problem.n < rows  # nor is it refused there
    assert advice.rows_for(1e-14) is None


@pytest.mark.parametrize("loss", ["logistic", "huber", "biweight", "absolute", "hinge", tg.losses.Squared()])
def test_losses(loss):
    assert 0.0 < tg.advise(50_000, 2, loss, epsilons=()).best.predicted < 0.2


def test_pure_budgets_sparse_models_and_means():
    pure = tg.advise(50_000, 5, "logistic", tg.Privacy(1.0, 0.0), epsilons=(1.0,))
    assert pure.best.recipe == "objective_perturbation"
    assert 0.0 < pure.best.predicted < 0.5
    assert pure.curve[0].recipe == "objective_perturbation"
    sparse = tg.advise(8_000, 500, sparsity=5, epsilons=())
    assert sparse.best.recipe == "sparse_rounds"
    mean = tg.advise(20_000, 3, "mean", epsilons=(1.0,))
    assert mean.best.recipe == "centred_clipping"
    assert mean.rows_for(0.1) is None
    assert "standard deviation" in mean.unit


def test_every_formula_grows_with_d_and_falls_with_n():
    for recipe, kind in FORMULAS:  # among them that of `newton` at small budgets in public units
        loss = tg.losses.Squared() if kind == "residuals" else tg.losses.Logistic()
        facts = [(10**4, 20), (10**5, 20), (10**5, 10)]
        problems = [Problem(loss, tg.domains.WholeSpace(d), n, d, True) for n, d in facts]
        errors = [risk(recipe, problem, tg.Privacy(1.0, 1e-6)) for problem in problems]
        assert errors == sorted(errors, reverse=True)
        assert 0.0 < errors[-1] < errors[0] < 1.0


UNITS = tg.Scales(1.0, target=1.0, centres=0.0, target_centre=0.0)


def test_public_scales_are_known_where_budgets_are_small():
    small = tg.Privacy(0.1, 1e-6)
    without, given = (
        tg.advise(10_000, 20, privacy=small, scales=scales, epsilons=(0.1, 8.0)) for scales in (None, UNITS)
    )
    assert given.problem.scales == UNITS.of(20)
    assert given.best.recipe == "newton"
    assert 0.02 < given.best.predicted < 0.5 * without.best.predicted  # 0.06 to 0.09 was measured
    assert given.curve[1].predicted == without.curve[1].predicted
    plan = tg.LinearRegression(epsilon=0.1, delta=1e-6, scales=UNITS).plan(10_000, 20)
    assert given.best.predicted == plan.predicted_error
    stronger = tg.advise(10_000, 20, privacy=small, scales=UNITS, signal_to_noise=4.0, epsilons=())
    assert 0.2 < stronger.best.predicted / given.best.predicted < 0.3
    assert given.rows_for(0.05) < without.rows_for(0.05)


def test_too_few_rows_for_a_delta_are_advised_to_do_without():
    advice = tg.advise(442, 10, epsilons=(0.5, 1.0, 2.0))
    plan = tg.LinearRegression().plan(442, 10)
    best = advice.best
    assert (best.recipe, best.delta, best.predicted) == (plan.recipe, plan.privacy.delta, plan.predicted_error)
    assert "objective_perturbation with δ = 0: 0.65" in str(advice)
    newton = next(option for option in advice.options if option.recipe == "newton")
    assert (newton.automatic, newton.delta) == (False, 1e-6)
    assert "needs about 510 rows" in newton.refusal
    assert [point.delta for point in advice.curve] == [1e-6, 0.0, 1e-6]
    assert "rows at ε = 0.5" in advice.curve[0].refusal


def test_rows_for_an_error_know_what_doing_without_a_delta_costs():
    advice = tg.advise(442, 5, epsilons=())
    for error in (0.9, 0.5, 0.3, 0.1):
        plan = tg.LinearRegression().plan(advice.rows_for(error), 5)
        assert plan.predicted_error <= error
    assert advice.rows_for(0.5) < 450  # without a δ
    assert tg.LinearRegression().plan(advice.rows_for(0.3), 5).recipe == "newton"


def test_wrong_facts_are_refused():
    for options, name in (
        ({"loss": "nothing"}, "loss"),
        ({"privacy": 1.0}, "privacy"),
        ({"signal_to_noise": 0.0}, "signal_to_noise"),
        ({"sparsity": 3, "domain": tg.domains.WholeSpace(5)}, "sparsity"),
        ({"scales": 2.0}, "scales"),
    ):
        with pytest.raises(ParameterError, match=f"'{name}' parameter of advise"):
            tg.advise(1_000, 5, **options)


def test_dense_recipes_promise_nothing_for_sparse_models():
    """They keep the largest coefficients in raw units: in columns of different units, the wrong ones."""
    advice = tg.advise(20_000, 30, sparsity=4)
    known = {option.recipe for option in advice.options if option.predicted is not None}
    assert known == {"sparse_rounds", "sparse_path"}
    assert advice.options[0] == advice.best
