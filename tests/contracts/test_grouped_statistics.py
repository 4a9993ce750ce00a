"""What every statistic of groups must do: one replaced record changes one group, by no more than is declared."""

import numpy as np
import pytest

from tailguard import engines
from tailguard.engines import WHOLE, Block
from tailguard.engines.selection import Selection
from tailguard.errors import ParameterError
from tailguard.statistics.groups import ClippedGroups, ClippedMedian, TruncatedMedian
from tests.support import neighbours
from tests.support.registry_grouped import GROUPED

ALL = pytest.mark.parametrize(
    "statistic", GROUPED, ids=lambda s: f"{s.kind}, {s.field.dimension}, {type(s.field).__name__}, {s.groups}"
)
ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


def value(statistic, X, y, block=WHOLE):
    return statistic.evaluate(Selection(engines.open(X, y), block))


def length(change, norm):
    return float(np.linalg.norm(change.astype(float), ORDER[norm]))


@ALL
@pytest.mark.parametrize("n", [7, 20, 23])
def test_no_replacement_exceeds_the_sensitivity(statistic, n):
    rng = np.random.default_rng([n, statistic.groups])
    X, y = neighbours.records(statistic.field.view, (statistic.threshold, 1.0), n, rng)
    others, targets = neighbours.records(statistic.field.view, (statistic.threshold, -1.0), 60, rng)
    before = value(statistic, X, y)
    assert before.dtype == np.int64
    assert before.size == statistic.dimension
    for other, target in zip(others, targets, strict=True):
        row = rng.integers(n)
        X_after, y_after = X.copy(), y.copy()
        X_after[row], y_after[row] = other, target
        change = value(statistic, X_after, y_after) - before
        for norm in statistic.norms:
            assert length(change, norm) <= statistic.sensitivity(norm)


@pytest.mark.parametrize("kind", [ClippedGroups, ClippedMedian, TruncatedMedian])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_some_replacement_comes_near_the_sensitivity(kind, groups):
    """With one record a group, the middle group decides: moving it from one side to the other moves the median."""
    from tailguard.statistics import Rows, View

    d, statistic = 4, kind(Rows(View(4)), 1.0, groups, 30)
    corner = np.full(d, 1.0 if kind is TruncatedMedian else 0.5)
    below, above = -corner, corner
    X = np.stack([below, above, below][:groups])
    order = [int(Block(g, groups).rows(groups)[0]) for g in range(groups)]
    records = np.empty_like(X)
    records[order] = X
    before = value(statistic, records, None)
    best = 0.0
    for row in range(groups):
        for new in (below, above):
            after = records.copy()
            after[row] = new
            change = value(statistic, after, None) - before
            best = max(best, *(length(change, norm) / statistic.sensitivity(norm) for norm in statistic.norms))
    assert best >= 0.9


@ALL
def test_values_are_those_of_plain_numpy(statistic):
    rng = np.random.default_rng(5)
    n = 29
    X, y = rng.standard_t(3, (n, statistic.field.view.dimension_in)), rng.standard_t(3, n)
    rows, slopes = statistic.field.parts(X, y)
    vectors = rows * slopes[:, None]
    if isinstance(statistic, TruncatedMedian):
        bounded = np.where(np.abs(vectors) <= statistic.threshold, vectors, 0.0)
    else:
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        bounded = vectors * np.minimum(1.0, statistic.threshold / norms)
    members = [Block(group, statistic.groups).rows(n) for group in range(statistic.groups)]
    sums = np.stack([bounded[rows].sum(axis=0) for rows in members])
    if isinstance(statistic, ClippedGroups):
        expected = sums.ravel()
    else:
        sizes = np.array([len(rows) for rows in members])
        scaled = np.sort(sums * (sizes.min() / sizes)[:, None], axis=0)
        expected = scaled[(statistic.groups - 1) // 2]
    np.testing.assert_allclose(value(statistic, X, y) * statistic.unit, expected, atol=40 * statistic.unit)


def test_groups_of_a_block_are_inside_the_block():
    n, count, groups = 53, 4, 3
    engine = engines.open(np.zeros((n, 1)))
    for index in range(count):
        whole = set(Block(index, count).rows(n))
        parts = Selection(engine, Block(index, count)).split(groups)
        found = [set(part.block.rows(n)) for part in parts]
        assert set().union(*found) == whole
        assert sum(map(len, found)) == len(whole)
        assert [part.size for part in parts] == [len(rows) for rows in found]


def test_more_groups_than_records_is_refused_by_a_public_number():
    with pytest.raises(ParameterError, match="7 groups need at least as many records, not 3"):
        value(GROUPED[3], np.zeros((3, 1)), np.zeros(3))
