"""Reports say what was promised and done, from plan and release alone."""

import dataclasses
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import tailguard as tg
from tailguard.errors import ParameterError, PlanError
from tailguard.mechanisms import Gaussian, Laplace, NoisyMax, TopK
from tailguard.plans import Step, loads
from tailguard.report import html, shares, summary
from tailguard.report.words import guarantee, limits, purpose
from tests.support.registry_plans import CASES

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects addresses and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.text = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(5000, 3))
    return X, X @ [1.0, 2.0, 3.0] + rng.standard_t(3, size=5000)


@pytest.fixture(scope="module")
def release(records):
    return tg.LinearRegression(epsilon=2.0).fit(*records).release_


@pytest.fixture(scope="module")
def simulation(records):
    return tg.LinearRegression(epsilon=2.0, random_state=1).fit(*records).release_


def test_shares_follow_the_multipliers():
    plan = tg.LinearRegression(epsilon=1.0).plan(20_000, 4)
    weights = {}
    for step in plan.steps:
        weights[step.name] = weights.get(step.name, 0.0) + step.count / step.multiplier**2
    total = sum(weights.values())
    assert [part.name for part in shares(plan)] == list(weights)
    for part in shares(plan):
        assert part.share == pytest.approx(weights[part.name] / total)
        assert part.releases == sum(step.count for step in plan.steps if step.name == part.name)


def test_shares_of_a_pure_plan_are_parts_of_epsilon():
    plan = tg.Mean(epsilon=1.0, delta=0.0).plan(50_000, 2)
    for part in shares(plan):
        steps = [step for step in plan.steps if step.name == part.name]
        # Gumbel noise of m sensitivities picks with 2 ÷ m, because scores may fall as others rise.
        spent = sum(step.count * (2.0 if isinstance(step.mechanism, TopK) else 1.0) / step.multiplier for step in steps)
        assert part.share == pytest.approx(spent, rel=1e-5)


def step(name, mechanism, multiplier, **more):
    return Step(name, "counts below", 1, 20, 1, 2.0**20, mechanism, multiplier, **more)


def test_shares_of_mixed_and_disjoint_steps():
    plan = dataclasses.replace(
        tg.Mean(epsilon=1.0).plan(50_000, 2),
        steps=(
            step("a", Gaussian(), 2.0),  # ρ = 1/8
            step("b", Laplace(), 4.0, count=2),  # ρ = 2/32
            step("c", Gaussian(), 2.0, count=3, blocks=3),  # one block each: ρ = 1/8
            step("d", NoisyMax(), 4.0),  # η = 2/4, ρ = η²/8 = 1/32
        ),
    )
    costs = np.array([1 / 8, 2 / 32, 1 / 8, 1 / 32])
    assert [part.share for part in shares(plan)] == pytest.approx(costs / costs.sum(), rel=1e-5)


def test_gaussian_noise_has_no_pure_share():
    plan = dataclasses.replace(tg.Mean(epsilon=1.0).plan(50_000, 2), privacy=tg.Privacy(1.0))
    with pytest.raises(PlanError, match="does not allow"):
        shares(plan)


def test_the_summary_of_a_plan_has_every_step_and_the_promise():
    plan = tg.LogisticRegression(epsilon=1.0, delta=1e-6, radius=7.0).plan(20_000, 4)
    text = summary(plan)
    assert "Plan of a private logistic regression" in text
    assert all(part.name in text and part.statistic in text for part in shares(plan))
    assert tg.plans.digest(plan) in text
    assert "ε = 1, δ = 1e-06; recomputed ε = 1" in text
    assert "k rows of one person cost kε" in text.replace("\n   ", " ")
    assert "length at most 7" in text
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text


def test_an_overspent_plan_has_no_summary():
    plan = dataclasses.replace(tg.Mean(epsilon=1.0).plan(20_000, 2), privacy=tg.Privacy(0.5, 1e-6))
    with pytest.raises(PlanError, match="more than"):
        summary(plan)


def test_the_summary_of_a_release_names_the_columns(release):
    text = summary(release, names=["age", "bmi", "a\x1b[31mb"])
    assert "NOT PRIVATE" not in text
    assert "OpenDP" in text
    assert "\x1b" not in text
    for name, value in zip(["age", "bmi"], release.estimate.coefficients, strict=False):
        assert re.search(rf"{name} +{re.escape(f'{value:.6g}')}", text)


def test_a_simulation_is_marked_everywhere(simulation):
    assert summary(simulation).startswith("SIMULATION, NOT PRIVATE")
    assert "a simulation does not keep" in summary(simulation)
    page = html(simulation)
    assert 'class="alarm"' in page
    assert "a simulation does not keep" in page
    assert 'class="seal"' not in page


def test_the_page_is_whole_and_needs_nothing_else(release):
    page = html(release, names=["age", "bmi", "cost"], target="pay")
    parsed = Page(page)
    assert parsed.addresses == []
    assert "<script" not in page
    assert "url(" not in page
    assert "@import" not in page
    text = " ".join(parsed.text)
    assert "Private linear regression of pay" in text
    assert 'class="seal"' in page
    assert release.digest in text
    for value in release.estimate.coefficients:
        assert f"{value:.6g}" in text
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_the_page_says_what_could_not_be_promised(release):
    page = " ".join(Page(html(release)).text)
    sentences = limits(release.plan)
    assert len(sentences) >= 5
    assert all(sentence in page for sentence in sentences)


def test_the_plan_in_the_page_can_be_verified(release):
    parsed = Page(html(release))
    document = next(text for text in parsed.text if text.lstrip().startswith("{"))
    assert loads(document) == release.plan
    assert json.loads(document)["digest"] == release.digest


def test_a_plan_has_a_page_before_any_record_is_read():
    plan = tg.LinearRegression().plan(20_000, 3)
    page = html(plan, target="<b>")
    parsed = Page(page)
    assert loads(next(text for text in parsed.text if text.lstrip().startswith("{"))) == plan
    words = " ".join(" ".join(parsed.text).split())
    assert "Plan of a private linear regression of <b>" in words
    assert "Where the budget goes" in words
    assert "before any record was read" in words
    for absent in ("differentially private", "The model", "Noise:", "NOT PRIVATE"):
        assert absent not in words
    dear = dataclasses.replace(plan, privacy=tg.Privacy(0.5, 1e-6))
    with pytest.raises(tg.PlanError, match="costs ε = 1"):
        html(dear)


def test_names_are_escaped(release):
    page = html(release, names=["<script>alert(1)</script>", "&", '"'], target="<b>")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "of &lt;b&gt;" in page


@pytest.mark.parametrize(
    ("model", "target"), [(tg.LinearRegression(random_state=0), np.nan), (tg.LogisticRegression(random_state=0), 7.0)]
)
def test_a_target_of_which_nothing_is_seen_is_told(model, target):
    """As of a CSV file whose target is text: no error may tell of cells, but released numbers may."""
    X = np.random.default_rng(0).normal(size=(5000, 3))
    said = "Nothing could be told from noise"
    assert said in summary(model.fit(X, np.full(5000, target)).release_)
    overlapping = X[:, 0] + np.random.default_rng(1).logistic(size=5000) > 0  # those that do not may have no intervals
    assert said not in summary(model.fit(X, overlapping).release_)


@pytest.mark.parametrize("report", [html, summary])
def test_intervals_that_miss_their_own_numbers_are_doubted(release, report):
    """The sentence is about released numbers alone."""
    estimate = release.estimate
    assert "outside their own interval" not in report(release)
    moved = dataclasses.replace(estimate, coefficients=estimate.coefficients * [1.0, 3.0, 3.0])
    page = " ".join(report(dataclasses.replace(release, estimate=moved)).split())
    assert "2 of 3 numbers lie outside their own interval" in page


@pytest.mark.parametrize("report", [html, summary])
def test_a_wrong_number_of_names_is_refused(release, report):
    with pytest.raises(ParameterError, match=r"must be 3 names of columns\. Got 1 instead"):
        report(release, names=["age"])


def test_the_guarantee_in_words():
    text = " ".join(guarantee(tg.Privacy(1.0, 1e-6), 500, 7))
    assert "2.718 times as large, plus δ = 1e-06" in text
    assert "at most 73.2 %" in text  # e/(1 + e) = 0.7311, rounded up
    assert "all 7 noisy releases" in text
    assert "n = 500" in text
    pure = " ".join(guarantee(tg.Privacy(0.1), 500, 7))
    assert "δ" not in pure
    assert "100 %" in " ".join(guarantee(tg.Privacy(1e4), 500, 7))


def _plans_of_many_columns():
    for method, domain in (("centred_descent", None), ("sparse_rounds", tg.domains.Sparse(200, sparsity=3))):
        for n, epsilon in ((6000, 1.0), (20_000, 1.0), (10**6, 10.0)):
            yield tg.LinearRegression(epsilon=epsilon, method=method, domain=domain).plan(n, 200)


def test_every_step_of_every_plan_has_words():
    plans = [*(case.plan for case in CASES), *_plans_of_many_columns()]
    steps = {step.name for plan in plans for step in plan.steps}
    assert {name for name in steps if not purpose(name)} == set()
    assert {"pick level", "common scale", "row length", "feature variance", "direction scale"} <= steps


def test_a_sparsity_and_a_robust_loss_are_named():
    text = " ".join(summary(tg.SparseLinearRegression(4).plan(20_000, 50)).split())
    assert "at most 4 columns in the model" in text
    assert "robust regression (Tukey's biweight)" in summary(tg.RobustRegression("biweight").plan(20_000, 5))
