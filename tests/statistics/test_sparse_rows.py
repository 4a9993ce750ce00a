"""Sparse rows: every pass, view and statistic gives the bits that it gives on the same rows as an array."""

import numpy as np
import pytest

from tailguard.errors import DataError
from tailguard.losses import CustomLoss, Logistic, Squared, SquaredDistance
from tailguard.statistics import (
    Below,
    BoundedCurvatures,
    BoundedGradient,
    Catoni,
    Cells,
    Clamped,
    Clipped,
    Columns,
    Curvatures,
    Gradient,
    Gram,
    Largest,
    Leveraged,
    Norm,
    Octaves,
    Outer,
    RecordGradient,
    Rows,
    Shrunken,
    Slope,
    Slopes,
    Target,
    Truncated,
    View,
    Weighted,
    base,
    kernels,
    passes,
    smoothing,
    sparse_layout,
)
from tailguard.statistics.arrays import frozen
from tailguard.statistics.capped import Capped
from tailguard.statistics.either import Either
from tailguard.statistics.leaders import Leaders
from tailguard.statistics.octaves import cuts
from tailguard.statistics.scores import _Scored
from tailguard.statistics.sparse_rows import SparseRows
from tests.support import neighbours
from tests.support.registry_grouped import GROUPED
from tests.support.registry_statistics import CASES
from tests.support.sparsely import rows_of, sparsely

WIDTHS = pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 16, 17, 50, 100])
D = 21
GATHERED = ("minimiser", "joint_minimiser", "ranks", "signed_ranks", "gradient_mapping", "potential")


@pytest.fixture(autouse=True)
def _silence():
    with np.errstate(all="ignore"):
        yield


def _both(view, special=(1.0, 2.0), size=300, seed=0):
    rng = np.random.default_rng(seed)
    X, y = neighbours.records(view, special, size, rng)
    sparse, dense = sparsely(X, rng)
    return sparse, frozen(dense), y


def _same_bits(a, b):
    """Equal to the bit, but for the sign and payload of NaN."""
    assert a.shape == b.shape
    np.testing.assert_array_equal(
        np.where(np.isnan(a), 0, a.view(np.int64)), np.where(np.isnan(b), 0, b.view(np.int64))
    )
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))


@WIDTHS
def test_measuring_passes(d):
    sparse, dense, _ = _both(View(d))
    point = frozen(np.random.default_rng(1).standard_normal(d) * 10.0 ** np.arange(-4, d - 4).clip(-4, 4))
    _same_bits(passes.dots(sparse, point), kernels.dots(dense, point))
    _same_bits(passes.squares(sparse), kernels.squares(dense))
    for made, expected in zip(
        passes.dots_and_squares(sparse, point), kernels.dots_and_squares(dense, point), strict=True
    ):
        _same_bits(made, expected)
    _same_bits(passes.largest(sparse), np.abs(dense).max(axis=1))


@WIDTHS
def test_ordinary_sums_need_the_order_of_the_lanes(d):
    """Where rounding differs with the order, not only where values overflow."""
    rng = np.random.default_rng(d)
    sparse, dense = sparsely(rng.standard_normal((200, d)) * 10.0 ** rng.integers(-6, 6, (200, d)), rng)
    point = frozen(rng.standard_normal(d))
    _same_bits(passes.dots(sparse, point), kernels.dots(frozen(dense), point))
    _same_bits(passes.squares(sparse), kernels.squares(frozen(dense)))
    if d >= 50:
        assert np.any(kernels.dots(frozen(dense), point) != np.cumsum(dense * point, axis=1)[:, -1])


@WIDTHS
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("add_clamped", (2.0**30,)),
        ("add_truncated", (2.0**30,)),
        ("add_shrunken", (2.0**28, 2.0**30)),
        ("add_smoothed", (smoothing.table(1.0), 2.0**30 / smoothing.bound(1.0), 2.0**30)),
    ],
)
def test_adding_passes(d, name, arguments):
    sparse, dense, slope = _both(View(d))
    factor = kernels.scaling_factors(slope, 1.0 if name == "add_smoothed" else 1e-9)
    factor = np.clip(factor, -1.0, 1.0) if name == "add_shrunken" else factor
    made = getattr(passes, name)(sparse, factor, *arguments)
    np.testing.assert_array_equal(made, getattr(passes, name)(dense, factor, *arguments))
    assert np.any(made)


@WIDTHS
def test_add_rows(d):
    sparse, dense, slope = _both(View(d))
    factor = kernels.clip_factors(slope, kernels.squares(dense), 1e-9, 2.0**30)
    np.testing.assert_array_equal(passes.add_rows(sparse, factor), kernels.add_rows(dense, factor))


@WIDTHS
def test_counting_passes(d):
    sparse, dense, _ = _both(View(d))
    for edges in ([0.0, 1.0, -np.inf, np.inf, 1e150], [-1.0, -0.0, 5e-324, -5e-324]):
        edge = frozen(np.resize(edges, d))
        np.testing.assert_array_equal(passes.count_below(sparse, edge), kernels.count_below(dense, edge))
    for low, high, substeps in ((-10, 10, 2), (-1022, 1024, 1), (5, 6, 3)):
        cells = (low, (high - low) * substeps, cuts(substeps))
        np.testing.assert_array_equal(
            passes.octave_counts(sparse, *cells), kernels.octave_counts(dense.view(np.int64), *cells)
        )


BASIS = np.random.default_rng(3).standard_normal((D, 4))
RATES = np.where(np.arange(D) % 5 == 1, np.inf, np.geomspace(0.01, 100.0, D))
SPARSE_VIEWS = {
    "plain": View(D),
    "intercept": View(D, intercept=True),
    "scale": View(D, scale=RATES),
    "scale and limit": View(D, scale=RATES, limit=0.5, intercept=True, target_limit=3.0),
    "centre 0": View(D, centre=np.resize([0.0, -0.0], D), scale=RATES),
    "centre of dropped columns": View(D, centre=np.where(np.isinf(RATES), 7.0, 0.0), scale=RATES),
}
DENSE_VIEWS = {
    "centre": View(D, centre=np.linspace(-1.0, 1.0, D), scale=RATES, limit=0.5, intercept=True),
    "columns": View(D, columns=[20, 3, 0, 7], intercept=True),
    "columns and centre": View(D, centre=np.ones(D), scale=RATES, columns=[4, 4, 1, 0], limit=2.0),
    "basis": View(D, scale=RATES, basis=BASIS, limit=2.0, intercept=True),
    "basis and centre": View(D, centre=np.ones(D), scale=RATES, basis=BASIS),
}
VIEWS = SPARSE_VIEWS | DENSE_VIEWS


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_rows_of_a_view(view):
    sparse, dense, _ = _both(View(D))
    expected = view.rows(dense)
    _same_bits(view.dense(sparse) + 0.0, expected + 0.0)  # up to the sign of a 0, which no kernel sees
    made = view.rows(sparse)
    assert (type(made) is SparseRows) == (view in SPARSE_VIEWS.values()) == (view.width == 0)
    _same_bits(passes.dense(made) + 0.0, expected + 0.0)
    assert made.shape == (300, view.dimension)


def test_the_identity_copies_nothing():
    sparse, _, _ = _both(View(D))
    assert View(D).rows(sparse) is sparse


def _statistics(view):
    """Every kind of statistic on every kind of field and scalar."""
    point = np.linspace(-0.3, 0.4, view.dimension)
    sloped = Gradient(view, Squared(), point)
    far = RecordGradient(view, SquaredDistance(), point)
    custom = RecordGradient(view, CustomLoss("cubic", lambda w, rows, target: (w - rows) ** 3), point)
    for field in (Rows(view), sloped, Gradient(view, Logistic(), point), Leveraged(sloped, 2.0), far, custom):
        yield Clipped(field, 0.7, 40)
        yield Clamped(field, 0.7, 40)
        yield Truncated(field, 0.7, 40)
        yield Shrunken(field, 0.7, 2.0, 40)
        yield Catoni(field, 0.7, 40)
        yield Weighted(field, 2.0, 0.5, 30)
        for scalars in (Norm(field), Largest(field), Slope(field)):
            yield Octaves(scalars, -30, 30, 2, 20)
            yield Below(scalars, [0.3], 20)
    yield Clipped(Slopes(sloped), 0.7, 40)
    yield Capped(Rows(view), 0.7, 40)
    yield Gram(view, 1.5, 36)
    yield Outer(sloped, 1.5, 36)
    yield Outer(Curvatures(Gradient(view, Logistic(), point), 2.0, 0.5), 0.7, 36)
    yield Outer(BoundedGradient(sloped, 2.0, 0.5), 0.7, 36)
    yield Outer(BoundedCurvatures(Gradient(view, Logistic(), point), 2.0, 0.5), 0.7, 36)
    yield Octaves(Columns(view), -10, 10, 2, 20)
    yield Below(Columns(view), np.linspace(-1.0, 1.0, view.dimension), 20)
    edges, folded = np.tile([-0.5, 0.0, 0.7], (view.dimension, 1)), np.arange(view.dimension) % 2 == 0
    yield Cells(Columns(view), edges, folded, 20)
    yield Cells(Columns(view), np.repeat(edges, 2, axis=0), np.repeat(folded, 2), 20)
    yield Octaves(Target(view), -10, 10, 2, 20)
    yield Either(Octaves(Slope(sloped), -10, 10, 2, 20), 50, 20)
    yield Either(Weighted(sloped, 2.0, 0.5, 36), view.dimension + 3, 36)
    if not view.intercept:
        yield Leaders(view, -10, 2, 10, 20)


def test_every_statistic_of_records_is_compared():
    known = {kind for kind in base._kinds.values() if kind.__module__.startswith("tailguard.")}
    own = {type(statistic) for statistic in _statistics(View(D))}
    derived = {kind for kind in known if issubclass(kind, _Scored)} | {type(statistic) for statistic in GROUPED}
    derived |= {kind for kind in known if kind.__module__.rpartition(".")[2] in GATHERED}
    assert own == known - derived  # those have the kernel of one of the others, or see records as arrays


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("block_bytes", [2**21, 1000])
def test_every_statistic_on_every_view(view, block_bytes, monkeypatch):
    monkeypatch.setattr(base, "BLOCK_BYTES", block_bytes)
    sparse, dense, y = _both(view, (0.7, -0.7, 2.0), 250)
    for statistic in _statistics(view):
        kernel = statistic.kernel()
        np.testing.assert_array_equal(kernel(sparse, y), kernel(dense, y), err_msg=str(type(statistic)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.statistic.kind}, {case.name}")
def test_every_registered_case(case):
    sparse, dense, y = _both(case.view, case.special, 200, seed=5)
    kernel = case.statistic.kernel()
    np.testing.assert_array_equal(kernel(sparse, y), kernel(dense, y))
    np.testing.assert_array_equal(kernel(sparse[:77], y[:77]) + kernel(sparse[77:], y[77:]), kernel(dense, y))
    np.testing.assert_array_equal(kernel(sparse[:0], y[:0]), np.zeros(case.statistic.dimension))


@pytest.mark.parametrize("view", SPARSE_VIEWS.values(), ids=SPARSE_VIEWS)
def test_nothing_is_made_dense_that_can_stay_sparse(view, monkeypatch):
    sparse, _, y = _both(view)
    statistics = [s for s in _statistics(view) if s._width(D) == 0]
    assert len(statistics) > 40
    monkeypatch.setattr(sparse_layout, "dense", None)
    for statistic in statistics:
        statistic.kernel()(sparse, y)


def test_blocks_that_are_made_dense_are_small(monkeypatch):
    monkeypatch.setattr(base, "BLOCK_BYTES", 10 * 8 * D)
    sizes = []
    dense = SparseRows.dense
    monkeypatch.setattr(SparseRows, "dense", lambda rows, columns=None: sizes.append(len(rows)) or dense(rows, columns))
    sparse, _, y = _both(View(D))
    for statistic in (Gram(View(D), 1.0, 30), Clipped(Rows(DENSE_VIEWS["centre"]), 1.0, 30)):
        statistic.kernel()(sparse, y)
    wide = Clipped(Rows(View(D, columns=[3])), 1.0, 30)
    wide.kernel()(sparse, y)
    assert sizes == [10] * 60 + [210, 90]


def test_a_statistic_that_knows_nothing_of_sparse_rows_sees_small_arrays(monkeypatch):
    """As one that a user writes with `view.dense`."""
    monkeypatch.setattr(base, "BLOCK_BYTES", 7 * 8 * D)
    sizes = []

    class Signs(Truncated):
        _width = base.Statistic._width

        def _block(self, X, y):
            sizes.append(len(X))
            return np.nan_to_num(np.sign(self.field.view.dense(X))).sum(axis=0)

    sparse, dense, _ = _both(View(D))
    kernel = Signs(Rows(View(D)), 1.0, 1).kernel()
    np.testing.assert_array_equal(kernel(sparse, None), kernel(dense, None))
    assert max(sizes) == 7


def test_slices_share_their_entries():
    sparse, dense, _ = _both(View(D))
    part = sparse[10:20]
    assert np.shares_memory(part.data, sparse.data)
    _same_bits(part.dense(), dense[10:20])
    assert (len(part), len(sparse[290:999]), len(sparse[5:2])) == (10, 10, 0)
    assert not sparse.data.flags.writeable


def test_the_first_block_needs_no_second_vector(monkeypatch):
    """A histogram of many columns may fill half of the memory."""
    statistic = Octaves(Columns(View(D)), -10, 10, 2, 20)
    sparse, _, _ = _both(View(D))
    made = []
    block = Octaves._block
    monkeypatch.setattr(Octaves, "_block", lambda self, X, y: made.append(block(self, X, y)) or made[-1])
    assert statistic.kernel()(sparse, None) is made[0]


def test_indices_of_64_bits_and_columns_far_out():
    d = 2**31 + 5
    rows = SparseRows(np.array([0, 2, 3]), np.array([7, d - 1, 0]), np.array([3.0, 4.0, np.nan]), d)
    np.testing.assert_array_equal(passes.squares(rows), [25.0, np.nan])
    np.testing.assert_array_equal(rows.dense(np.array([d - 1, 0])), [[4.0, 0.0], [0.0, np.nan]])


def test_chunks_of_another_width_are_refused():
    rows = rows_of(np.ones((2, 3)), np.ones((2, 3), bool))
    for made in (View(2).rows, View(2).dense, View(2, centre=[1.0, 1.0]).rows):
        with pytest.raises(DataError, match="must have 2 columns"):
            made(rows)


@pytest.mark.parametrize(
    ("indptr", "indices", "expected"),
    [
        ([0, 2, 3], [0, 2, 1], (True, True)),
        ([0, 0, 0], [], (True, True)),
        ([0, 2, 3], [2, 0, 1], (True, False)),
        ([0, 2, 3], [1, 1, 1], (True, False)),
        ([0, 2, 3], [0, 3, 1], (False, True)),
        ([0, 2, 3], [-1, 2, 1], (False, True)),
        ([0, 2, 4], [0, 2, 1], (False, True)),
        ([0, 2, 1], [0, 2, 1], (False, True)),
        ([-1, 2, 3], [0, 2, 1], (False, True)),
    ],
)
def test_structure(indptr, indices, expected):
    assert sparse_layout.structure(np.array(indptr), np.array(indices, np.int32), 3) == expected
