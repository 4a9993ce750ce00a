"""Drafts: shares of a budget become noise, and what is spent is what was asked."""

import math

import pytest

from tailguard.mechanisms import Gaussian, L2Laplace, Laplace, LaplacePeeling, Peeling, TopK
from tailguard.plans.step import composition
from tailguard.privacy import Privacy
from tailguard.privacy.composition import epsilon
from tailguard.recipes.draft import Draft, assemble
from tailguard.statistics import Below, Clamped, Clipped, Magnitudes, Octaves, Shifted

COUNTS = Draft("counts", Below, 4, 0.1, count=7)
CELLS = Draft("cells", Octaves, 300, 0.1, parts=3)
SUM = Draft("sum", Clipped, 5, 0.2, count=3)
PICKS = Draft("picks", Magnitudes, 50, 0.3, picks=5)
PEELED = Draft("peeled", Shifted, 50, 0.3, picks=4, peeled=True)
BLOCKS = Draft("blocks", Clamped, 5, 0.2, count=6, blocks=3)
PEELED_BLOCKS = Draft("peeled blocks", Shifted, 20, 0.1, count=4, picks=2, peeled=True, blocks=4)
PLANS = {
    "sums": (COUNTS, CELLS, SUM),
    "picks": (PICKS,),
    "peeled": (PEELED,),
    "mixed": (COUNTS, PICKS, PEELED, SUM, Draft("choice", Shifted, 2, 0.01, picks=1)),
    "blocks": (COUNTS, BLOCKS, PEELED_BLOCKS),
}
each = pytest.mark.parametrize("drafts", PLANS.values(), ids=PLANS.keys())


@each
@pytest.mark.parametrize("budget", [(0.1, 1e-9), (1.0, 1e-6), (20.0, 1e-3), (0.5, 0.0), (30.0, 0.0)])
def test_the_whole_budget_is_spent_and_not_more(drafts, budget):
    privacy = Privacy(*budget)
    cost = epsilon(composition(assemble(drafts, privacy, 30)), privacy.delta)
    assert 0.995 * privacy.epsilon <= cost <= privacy.epsilon


def _parts(drafts, privacy):
    """Return what each step spends of ρ, or of ε, of all steps together; written down by hand."""
    spent = []
    for step in assemble(drafts, privacy, 30):
        met, mechanism = math.ceil(step.count / step.blocks), step.mechanism
        if privacy.pure:
            weight = {Laplace: 1, L2Laplace: 1, TopK: 2, LaplacePeeling: 3}[type(mechanism)]
            spent.append(met * weight * getattr(mechanism, "count", 1) / step.multiplier)
        else:  # a pick of bounded range η = 2/multiplier costs η²/8
            weight = {Gaussian: 0.5, TopK: 4 / 8, Peeling: 0.5 + 4 / 8}[type(mechanism)]
            spent.append(met * weight * getattr(mechanism, "count", 1) / step.multiplier**2)
    return [part / sum(spent) for part in spent]


@each
@pytest.mark.parametrize("budget", [(1.0, 1e-6), (1.0, 0.0)])
def test_every_step_gets_its_share(drafts, budget):
    total = sum(draft.share for draft in drafts)
    expected = [draft.share / total for draft in drafts]
    assert _parts(drafts, Privacy(*budget)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("draft", "private", "pure"), [
    (COUNTS, Gaussian(), Laplace()),
    (SUM, Gaussian(), L2Laplace()),
    (PICKS, TopK(5), TopK(5)),
    (PEELED, Peeling(4), LaplacePeeling(4)),
])  # fmt: skip
def test_mechanisms_fit_the_budget(draft, private, pure):
    assert draft.step(1.0, 30, pure=False).mechanism == private
    assert draft.step(1.0, 30, pure=True).mechanism == pure


def test_sensitivities_are_those_of_the_statistic_in_the_norm_of_the_mechanism():
    for draft in (COUNTS, CELLS, SUM, PICKS, PEELED, BLOCKS):
        for pure in (True, False):
            step = draft.step(2.0, 30, pure=pure)
            declared = draft.statistic.sensitivity_of(step.mechanism.norm, draft.dimension, 30, draft.parts)
            assert step.sensitivity == declared
            assert (step.name, step.count, step.blocks) == (draft.name, draft.count, draft.blocks)


def test_more_picks_cost_more():
    one, five = (Draft("picks", Magnitudes, 50, 1.0, picks=count).step(1.0, 30, pure=False) for count in (1, 5))
    assert five.multiplier == pytest.approx(math.sqrt(5.0) * one.multiplier)
