"""Recipes of Lowy 2026: the theorems' numbers, the printed noise, refusals with their numbers, and what they reach."""

import math

import numpy as np
import pytest

import tailguard as tg
from tailguard import engines
from tailguard.certified import predicted_iterations
from tailguard.domains import Box, L2Ball, Simplex, WholeSpace
from tailguard.errors import BudgetError, ParameterError
from tailguard.losses import Absolute, Biweight, CustomLoss, Logistic, Squared, SquaredDistance
from tailguard.plans import Moment, Problem, verify
from tailguard.privacy import Privacy
from tailguard.recipes import double_output_perturbation, gradient_mapping, localisation, net_search, recipe
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tailguard.theory import Setting, lowy

NORM = Moment(2.0, 3.0, "norm")
NAMES = ("gradient_mapping", "double_output_perturbation", "approximate_exponential")


def problem(n=4000, d=2, loss=None, domain=None, moment=NORM, smoothness=2.0, **changes):
    return Problem(loss or Squared(), domain or L2Ball(d, 1.5), n, d, moment=moment, smoothness=smoothness, **changes)


def plan(name, facts=None, epsilon=1.0, parameters="paper"):
    return recipe(name).plan("regression", facts or problem(), Privacy(epsilon, 0.0), parameters)


@pytest.mark.parametrize("order", [2.0, 4.0])
@pytest.mark.parametrize(("n", "d", "epsilon"), [(5000, 1, 0.5), (30_000, 2, 2.0)])
def test_numbers_are_those_of_the_theory(n, d, epsilon, order):
    setting = Setting(n=n, d=d, epsilon=epsilon, delta=0.0, order=order, bound=3.0, diameter=3.0, smoothness=2.0)
    facts = problem(n, d, moment=Moment(order, 3.0, "norm"))
    found = localisation.arcs(facts, Privacy(epsilon, 0.0), "test")
    for t, arc in enumerate(found, 1):
        block = Setting(n=arc.size, d=d, epsilon=epsilon, delta=0.0, order=order, bound=3.0, smoothness=2.0)
        assert arc.size == n // (2**t * arc.repetitions)
        assert arc.ridge == pytest.approx(32.0 ** (t - 1) * lowy.base_ridge(setting), rel=1e-12)
        assert arc.clip == pytest.approx(lowy.extension_clip(setting, arc.size), rel=1e-12)
        radius = gradient_mapping.net_radius(arc.size, d, epsilon, arc.clip, arc.ridge, 2.0)
        assert radius == pytest.approx(lowy.gradient_mapping_net(block, arc.ridge), rel=1e-12)
    log = math.log(math.ceil(math.log2(n)) / 0.05)
    assert found[0].repetitions == math.ceil(log)
    assert plan("double_output_perturbation", facts, epsilon).predicted_error == pytest.approx(
        min(lowy.double_output_risk(setting), lowy.trivial_risk(setting))
    )


@pytest.mark.parametrize("name", NAMES)
def test_phases_have_disjoint_halves_quarters_and_eighths(name):
    made = plan(name)
    places = sorted({(step.first / step.blocks, (step.first + step.count) / step.blocks) for step in made.steps})
    assert places[:3] == [(0.0, 0.5), (0.5, 0.75), (0.75, 0.875)]
    assert min(size for phase in made.solver.phases for size in phase.sizes(4000)) >= localisation.LEAST
    if name == "gradient_mapping":
        assert 4000 // (2 ** (len(places) + 1) * made.steps[0].count) < localisation.LEAST


@pytest.mark.parametrize(
    ("name", "share"),
    [("gradient_mapping", 1.0), ("double_output_perturbation", 0.337), ("approximate_exponential", 0.418)],
)
@pytest.mark.parametrize("epsilon", [0.3, 4.0])
def test_what_the_printed_noise_spends(name, share, epsilon):
    cost = verify(plan(name, epsilon=epsilon))
    assert cost.delta == 0.0
    assert cost.epsilon / epsilon == pytest.approx(share, abs=5e-4)


def test_printed_noise():
    """Scale 12·C/(λmε) in both stages, radius 600·Cd/(λmε); Gumbel noise of 2Δ/ε, and of 2Δ/(ε/4) in Algorithm 7."""
    epsilon = 0.5
    for name in NAMES[1:]:
        made = plan(name, epsilon=epsilon)
        for phase in made.solver.phases:
            unit = phase.clip / (phase.ridge * min(phase.sizes(4000)))
            assert phase.radius == pytest.approx(600 * 2 * unit / epsilon)
        for step in made.steps:
            scale = step.multiplier * step.sensitivity / 2**step.bits
            assert scale == pytest.approx(12 / epsilon if step.name != "net" else 2 * 2 * 4 / epsilon, rel=1e-9)
    for step in plan("gradient_mapping", epsilon=epsilon).steps:
        assert step.multiplier * step.sensitivity / 2**step.bits == pytest.approx(2 * 2 / epsilon, rel=1e-6)


def test_the_printed_phases_would_be_empty():
    """⌈log₂ n⌉ = 12 phases as printed; blocks of at least 16 records leave 5 of them."""
    assert len(plan("gradient_mapping").solver.phases) == 5
    assert 4000 // (2**12 * 6) == 0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"moment": None}, "'moment'"),
        ({"moment": Moment(2.0, 3.0, "direction")}, "'moment'"),
        ({"moment": Moment(1.5, 3.0, "norm")}, "'moment'"),
        ({"domain": WholeSpace(2)}, "'domain'"),
        ({"d": 4}, "'domain'"),
        ({"intercept": True}, "'intercept'"),
        ({"loss": Biweight(1.0)}, "'loss'"),
    ],
)
def test_what_the_theorems_ask_for(name, changes, match):
    if name == "double_output_perturbation" and "d" in changes:
        assert plan(name, problem(d=4)).steps
        return
    with pytest.raises(ParameterError, match=match):
        plan(name, problem(**changes))


def test_more_refusals():
    with pytest.raises(ParameterError, match="a Box or an L2Ball"):
        plan("gradient_mapping", problem(domain=Simplex(2)))
    custom = CustomLoss("cube", lambda w, rows, _: (w - rows) ** 3)
    for name in NAMES[1:]:
        with pytest.raises(ParameterError, match="'loss'"):
            plan(name, problem(loss=custom))
    with pytest.raises(ParameterError, match="practical"):
        plan("double_output_perturbation", parameters="practical")


def test_too_few_rows_and_too_many_points_are_refused_with_their_numbers():
    for name in NAMES:
        with pytest.raises(BudgetError, match="A phase of 5 blocks cannot be carried by n = 100 rows") as refusal:
            plan(name, problem(n=100))
        rows = int(str(refusal.value).split("about ")[1].split()[0])
        assert plan(name, problem(n=rows)).steps
    with pytest.raises(BudgetError, match=r"would score \d\.\de\+\d+ pairs of a point and a record, more than 4e\+09"):
        plan("gradient_mapping", problem(n=10**6, d=3))


def test_phases_end_where_double_precision_does():
    """At n = 10 000 a sixth phase has enough records, and minimisers that no float can tell apart at ε = 1/2."""
    facts = problem(10_000, 1, domain=L2Ball(1, 3.0), moment=Moment(2.0, 10.0, "norm"))
    counts = [len(plan(name, facts, 0.5).solver.phases) for name in NAMES]
    assert counts == [6, 4, 4]
    X = np.random.default_rng(0).standard_t(3, (10_000, 1))
    for name in NAMES[1:]:
        found = run(plan(name, facts, 0.5), engines.open(X, X[:, 0]), Simulation(0))
        assert facts.domain.contains(found.estimate.coefficients)
    with pytest.raises(BudgetError, match="cannot resolve"):
        double_output_perturbation.plan_with(problem(), Privacy(1.0, 0.0), ridge=1e12)


@pytest.mark.parametrize("kind", [Squared(), SquaredDistance()], ids=lambda loss: loss.name)
def test_paper_gradient_mapping_is_within_theorem_e1(kind):
    """One phase, many repetitions: seven answers in ten are within the theorem's distance of the minimiser."""
    n, rng = 1500, np.random.default_rng(0)
    X = rng.standard_t(3, (n, 1))
    y = 0.5 * X[:, 0] + rng.standard_t(3, n)
    regression = isinstance(kind, Squared)
    facts = problem(n, 1, loss=kind, moment=Moment(2.0, 4.0, "norm"), smoothness=4.0)
    made = plan("gradient_mapping", facts)
    engine = engines.open(X, y) if regression else engines.open(X)
    phase, distances = made.solver.phases[0], []
    for seed in range(20):
        done = run(made, engine, Simulation(seed))
        net = np.clip(phase.net.points(np.zeros(1)), -1.5, 1.5)
        picks = [net[int(released.value[0]), 0] for released in done.released[: phase.repetitions]]
        w = np.linspace(-1.5, 1.5, 3001)
        for j, pick in enumerate(picks):
            rows = engines.Block(phase.first + j, phase.blocks).rows(n)
            a, b = (np.mean(X[rows, 0] ** 2), np.mean(X[rows, 0] * y[rows])) if regression else (1.0, X[rows, 0].mean())
            best = w[np.argmin(0.5 * a * w**2 - b * w + 0.5 * phase.ridge * w**2)]
            distances.append(abs(pick - best))
    setting = Setting(n=phase.sizes(n)[0], epsilon=1.0, bound=4.0, diameter=3.0, smoothness=4.0)
    assert np.quantile(distances, 0.7) <= lowy.gradient_mapping_distance(setting, phase.ridge)


@pytest.mark.parametrize("name", NAMES)
def test_paper_plans_come_near_the_minimiser_when_the_budget_is_endless(name):
    """With hardly any noise the phases themselves must work: centres, regularisers, nets and aggregation."""
    n, rng = 1500, np.random.default_rng(1)
    X = rng.standard_t(4, (n, 1))
    y = 0.8 * X[:, 0] + 0.3 * rng.standard_t(4, n)
    facts, epsilon = problem(n, 1, moment=Moment(2.0, 0.1, "norm")), 30.0 if name == "gradient_mapping" else 3000.0
    estimates = [
        run(plan(name, facts, epsilon), engines.open(X, y), Simulation(seed)).estimate.coefficients for seed in range(3)
    ]
    assert np.median(np.abs(np.array(estimates) - 0.8)) < 0.1


def _excess(w, w_true):
    return float(np.sum((np.asarray(w) - w_true) ** 2))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("d", [1, 2])
def test_practical_search_finds_models_on_any_scale(d, intercept):
    """Columns on scales from 1e-3 to 1e4, and no bound on anything."""
    n, rng = 8000, np.random.default_rng(d)
    scales = np.array([1e-3, 1e4])[:d]
    X = rng.standard_t(3, (n, d)) * scales + (5.0 * scales if intercept else 0.0)
    y = X @ (np.array([1.0, -0.5])[:d] / scales) + 20.0 * intercept + rng.standard_t(3, n)
    made = plan(
        "gradient_mapping", problem(n, d, domain=WholeSpace(d), moment=None, intercept=intercept), 2.0, "practical"
    )
    found = run(made, engines.open(X, y), Simulation(0)).estimate
    assert _excess(found.coefficients * scales, np.array([1.0, -0.5])[:d]) < 4e-3
    if intercept:
        assert abs(found.intercept - 20.0) < 0.3


def test_practical_search_on_classes_and_absolute_errors():
    n, rng = 8000, np.random.default_rng(3)
    X = rng.standard_t(3, (n, 2))
    labels = (rng.random(n) < 1 / (1 + np.exp(-(X @ [1.0, -0.5])))).astype(float)
    made = plan("gradient_mapping", problem(n, loss=Logistic(), domain=WholeSpace(2), moment=None), 2.0, "practical")
    assert _excess(run(made, engines.open(X, labels), Simulation(0)).estimate.coefficients, [1.0, -0.5]) < 0.05
    y = X @ [1.0, -0.5] + rng.standard_cauchy(n)
    made = plan(
        "gradient_mapping", problem(n, loss=Absolute(0.05), domain=WholeSpace(2), moment=None), 2.0, "practical"
    )
    assert _excess(run(made, engines.open(X, y), Simulation(0)).estimate.coefficients, [1.0, -0.5]) < 0.01


def test_practical_search_keeps_the_domain_and_refuses_what_it_cannot_do():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((5000, 2))
    y = X @ [3.0, 0.0]
    for domain in (L2Ball(2, 1.0), Box((0.0, 0.0), (1.0, 1.0))):
        made = plan("gradient_mapping", problem(5000, domain=domain, moment=None), 2.0, "practical")
        assert domain.contains(run(made, engines.open(X, y), Simulation(0)).estimate.coefficients)
    with pytest.raises(ParameterError, match="at most 3 coefficients"):
        plan("gradient_mapping", problem(d=3, moment=None, intercept=True), parameters="practical")
    with pytest.raises(ParameterError, match="'loss'"):
        plan("gradient_mapping", problem(loss=SquaredDistance()), parameters="practical")
    for facts in (problem(100, 1, moment=None), problem(100, 1, moment=None, intercept=True)):
        with pytest.raises(BudgetError, match=r"cannot be carried by n = 100") as refusal:
            plan("gradient_mapping", facts, parameters="practical")
        rows = int(str(refusal.value).split("about ")[1].split()[0])
        assert plan(
            "gradient_mapping", problem(rows, 1, moment=None, intercept=facts.intercept), parameters="practical"
        )


def test_practical_shares_add_up():
    made = plan("gradient_mapping", problem(20_000, moment=None, intercept=True), 2.0, "practical")
    parts = {share.name: share.share for share in tg.report.shares(made)}
    assert sum(parts.values()) == pytest.approx(1.0)
    assert parts["net"] > 0.6
    assert [step.name for step in made.steps if step.name in ("net", "gradient level")] == [
        *["net"] * (len(net_search.PARTS) - 1),
        "gradient level",
        "net",
    ]
    assert sum(net_search.PARTS) == pytest.approx(1.0)
    with pytest.raises(ParameterError, match="'delta'"):
        recipe("gradient_mapping").plan("regression", problem(20_000, moment=None), tg.Privacy(1.0, 1e-6), "practical")
    assert double_output_perturbation.RECIPE.tasks == ("regression",)


def test_the_numbers_of_the_page():
    """docs/papers/lowy.md: how small the small ball is, and what Algorithm 3 would take."""
    facts = problem(10_000, 1, domain=L2Ball(1, 3.0), moment=Moment(2.0, 10.0, "norm"))
    radii = [phase.radius for phase in plan("double_output_perturbation", facts, 0.5).solver.phases]
    assert [round(radius) for radius in radii[:3]] == [7307, 323, 14]
    clip, ridge, m = 1.0, 0.2, 100  # λD = C/5, G = C, D = 1
    slope = math.sqrt((clip + ridge) ** 2 + (2 * clip) ** 2 / m)
    accuracy = clip**2 / (72 * ridge * m**2)
    assert predicted_iterations(math.sqrt(m + 1), slope, accuracy) == pytest.approx(2.8e13, rel=0.02)
    assert pytest.approx(5.94, abs=0.01) == 12 / (2 * 1.01)
