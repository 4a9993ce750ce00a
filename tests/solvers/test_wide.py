"""The preparation of many columns, told exact values: scales, means and variances, and nothing that breaks it."""

import itertools

import numpy as np
import pytest

from tailguard.domains import WholeSpace
from tailguard.losses import Squared
from tailguard.plans import Problem
from tailguard.privacy import Privacy
from tailguard.recipes.draft import assemble
from tailguard.recipes.wide import wide_drafts, wide_preparation
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.wide import WidePreparation, prepare_wide, shrunken
from tailguard.statistics import View
from tests.support.exactly import told_exactly

N, D, BITS = 2000, 12, 30
RNG = np.random.default_rng(0)
SPREADS = 10.0 ** RNG.uniform(-3.0, 3.0, D)
X = RNG.normal(size=(N, D))
COMMON, OCTAVES = WidePreparation(), WidePreparation(octaves=True)
MEANS = WidePreparation(octaves=True, averaged=True)
FULL = WidePreparation(octaves=True, averaged=True, refined=True)
MEDIANS = WidePreparation(medians=Preparation(2**9, pooled=True))
KINDS = {"common": COMMON, "octaves": OCTAVES, "means": MEANS, "full": FULL, "medians": MEDIANS}
each = pytest.mark.parametrize("preparation", KINDS.values(), ids=KINDS.keys())


def _view(records, preparation, intercept=True, noise=1e-9):
    asking = prepare_wide(View(records.shape[1], intercept=intercept), preparation, len(records), BITS)
    return told_exactly(asking, records, noise=noise)[0]


def test_a_common_scale_is_the_median_root_mean_square_of_a_row():
    scale = np.asarray(_view(X * SPREADS, COMMON).scale)
    assert np.all(scale == scale[0])
    assert scale[0] == pytest.approx(np.median(np.linalg.norm(X * SPREADS, axis=1)) / np.sqrt(D), rel=0.2)


@pytest.mark.parametrize("preparation", [OCTAVES, MEANS, FULL, MEDIANS], ids=["octaves", "means", "full", "medians"])
def test_columns_get_scales_of_their_own(preparation):
    scale = np.asarray(_view(X * SPREADS, preparation).scale)
    ratio = scale / SPREADS
    assert ratio.max() / ratio.min() < 1.2


def test_variances_correct_what_octaves_cannot_see():
    """Half of the columns are spread evenly, the others hold two values: the same octave, other variances."""
    records = RNG.uniform(1.0, 2.0, size=(N, D)) * RNG.choice([-1.0, 1.0], size=(N, D))
    records[:, ::2] = RNG.choice([-1.05, 1.05], size=(N, D // 2))
    found = {name: np.asarray(_view(records, KINDS[name]).scale) / records.std(axis=0) for name in ("means", "full")}
    spread = {name: ratio.max() / ratio.min() for name, ratio in found.items()}
    assert spread["means"] > 1.3
    assert spread["full"] < 1.1


def test_means_centre_the_columns():
    centre = RNG.uniform(-2.0, 2.0, size=D) * SPREADS
    view = _view(X * SPREADS + centre, MEANS)
    # Rows are shortened to 1.25 medians of their lengths: most are as they are.
    np.testing.assert_allclose(np.asarray(view.centre) / SPREADS, centre / SPREADS, atol=0.3)
    assert _view(X, OCTAVES).centre is None


def test_a_rare_column_gets_the_scale_of_all():
    records = X.copy()
    records[:, 3] = np.arange(N) < 2
    scale = np.asarray(_view(records, OCTAVES, noise=1e-3).scale)
    assert np.median(scale) / 4 < scale[3] < 4 * np.median(scale)


@each
@pytest.mark.parametrize("power", [-12, 9])
def test_everything_follows_the_data_by_octaves(preparation, power):
    records = X * SPREADS + SPREADS
    one, other = _view(records, preparation), _view(2.0**power * records, preparation)
    np.testing.assert_allclose(other.scale, 2.0**power * np.asarray(one.scale), rtol=1e-9)
    if one.centre is not None:
        np.testing.assert_allclose(other.centre, 2.0**power * np.asarray(one.centre), rtol=1e-6)


@each
def test_the_order_of_columns_does_not_matter(preparation):
    records = X * SPREADS + SPREADS
    order = np.random.default_rng(1).permutation(D)
    one, other = _view(records, preparation), _view(records[:, order], preparation)
    np.testing.assert_allclose(other.scale, np.asarray(one.scale)[order], rtol=1e-9)
    if one.centre is not None:
        np.testing.assert_allclose(other.centre, np.asarray(one.centre)[order], rtol=1e-6)


@each
@pytest.mark.parametrize("far", [1e12, 1e300, np.inf, np.nan])
def test_a_percent_of_monsters_moves_little(preparation, far):
    records = X * SPREADS + SPREADS
    before = _view(records, preparation)
    records[::100] = far
    after = _view(records, preparation)
    np.testing.assert_allclose(np.log2(after.scale), np.log2(before.scale), atol=0.25)
    if before.centre is not None:
        assert np.max(np.abs(np.asarray(after.centre) - before.centre) / SPREADS) < 0.2


@pytest.mark.parametrize("preparation", [COMMON, MEANS, FULL], ids=["common", "means", "full"])
def test_missing_values_in_most_rows_move_little(preparation):
    """Where only a fifth of the rows is complete, those decide."""
    records = X + 1.0
    before = _view(records, preparation)
    records[np.arange(N) % 5 > 0, 0] = np.nan
    after = _view(records, preparation)
    np.testing.assert_allclose(np.log2(after.scale), np.log2(before.scale), atol=0.3)
    if before.centre is not None:
        np.testing.assert_allclose(after.centre, before.centre, atol=0.2)


HOSTILE = {
    "zeros": np.zeros((60, 5)),
    "missing": np.full((60, 5), np.nan),
    "a missing column": np.where(np.arange(5) == 2, np.nan, X[:60, :5]),
    "a constant column": np.where(np.arange(5) == 2, 7.0, X[:60, :5]),
    "infinite": np.full((60, 5), np.inf),
    "huge": np.full((60, 5), 1e300),
    "tiny": np.full((60, 5), 1e-300),
    "one row": X[:1, :5],
    "one column": X[:60, :1],
}


@each
@pytest.mark.parametrize("records", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("noise", [1e-9, 1.0, 1e6])
def test_a_view_always_comes_out(preparation, records, noise):
    view = _view(records, preparation, noise=noise)
    assert np.all(np.asarray(view.scale) > 0.0)
    assert view.centre is None or np.all(np.isfinite(view.centre))
    assert view.intercept


@pytest.mark.parametrize("flags", list(itertools.product([False, True], repeat=3)))
def test_questions_follow_the_drafts(flags):
    preparation = WidePreparation(None, *flags)
    _follows(preparation, X)


@pytest.mark.parametrize("centred", [True, False])
def test_questions_for_medians_follow_the_drafts(centred):
    _follows(WidePreparation(Preparation(2**9, centred=centred, pooled=True)), X)


def _follows(preparation, records):
    steps = assemble(wide_drafts(preparation, D, 0.1), Privacy(1.0, 1e-6), BITS)
    _, queries = told_exactly(prepare_wide(View(D, intercept=True), preparation, N, BITS), records)
    planned = [step for step in steps for _ in range(step.count)]
    assert [query.step for query in queries] == [step.name for step in planned]
    for query, step in zip(queries, planned, strict=True):
        if query.statistic is not None:
            assert (query.statistic.kind, query.statistic.dimension) == (step.statistic, step.dimension)
            assert query.statistic.sensitivity(step.mechanism.norm) == step.sensitivity


@pytest.mark.parametrize("intercept", [True, False])
def test_more_budget_buys_finer_preparations(intercept):
    found = [
        wide_preparation(Problem(Squared(), WholeSpace(500), n, 500, intercept=intercept), Privacy(1.0, 1e-6), 0.1)
        for n in (1000, 10**5, 10**6, 10**8)
    ]
    assert found[0] == COMMON
    ranks = [(part.medians is not None, part.octaves, part.refined, part.averaged) for part in found]
    assert ranks == sorted(ranks)
    assert found[-1].medians is not None
    assert found[-1].medians.centred == intercept
    assert all(not part.averaged for part in found) or intercept  # a line through the origin must not be centred


def test_shrinking_is_that_of_james_and_stein():
    values = np.array([1.0, 2.0, 4.0, 5.0, 8.0])
    kept = 1.0 - 2 * 0.5**2 / np.sum((values - 4.0) ** 2)
    np.testing.assert_allclose(shrunken(values, 0.5), 4.0 + kept * (values - 4.0))
    np.testing.assert_allclose(shrunken(values, 100.0), 4.0)
    np.testing.assert_array_equal(shrunken(values, 0.0), values)
    np.testing.assert_array_equal(shrunken(values[:3], 100.0), values[:3])
    np.testing.assert_array_equal(shrunken(np.ones(5), 1.0), 1.0)
