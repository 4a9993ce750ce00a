"""Each kernel against its plain NumPy twin, to the bit, on ordinary and on hostile rows."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tailguard.statistics import View, kernels
from tailguard.statistics.arrays import frozen
from tailguard.statistics.octaves import cuts
from tests.support import neighbours, twins

WIDTHS = pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 16, 50, 100])


@pytest.fixture(autouse=True)
def _silence():
    with np.errstate(all="ignore"):
        yield


def _rows(d, m=300):
    """Rows on many scales, hostile ones among them, and one slope for each."""
    X, y = neighbours.records(View(d), (1.0, 2.0), m, np.random.default_rng(d))
    return frozen(X), y


def _factors(d):
    rows, slope = _rows(d)
    return rows, twins.clip_factors(slope, twins.squares(rows), 1e-9, 2.0**30)


@WIDTHS
def test_dots_and_squares(d):
    rows, _ = _rows(d)
    point = frozen(np.random.default_rng(0).standard_normal(d))
    both = kernels.dots_and_squares(rows, point)
    np.testing.assert_array_equal(both[0], twins.dots(rows, point))
    np.testing.assert_array_equal(both[1], twins.squares(rows))
    np.testing.assert_array_equal(kernels.dots(rows, point), both[0])
    np.testing.assert_array_equal(kernels.squares(rows), both[1])


def test_dots_are_not_fused_multiply_adds():
    """(1 + ε)² − 1 loses its last term when the square is rounded first; a fused operation would keep it."""
    tiny = 2.0**-30
    rows = frozen(np.array([[-1.0 - 2 * tiny, 1.0 + tiny]]))
    point = frozen(np.array([1.0, 1.0 + tiny]))
    assert kernels.dots(rows, point)[0] == 0.0


@WIDTHS
@pytest.mark.parametrize("intercept", [False, True])
def test_scaled_rows(d, intercept):
    rows, _ = _rows(d)
    centre = frozen(np.linspace(-1.0, 1.0, d))
    rate = frozen(np.where(np.arange(d) % 3 == 1, 0.0, np.geomspace(1e-3, 1e3, d)))
    made = kernels.scaled_rows(rows, centre, rate, np.inf, intercept)
    np.testing.assert_array_equal(made, twins.scaled_rows(rows, centre, rate, intercept))


@pytest.mark.parametrize("unit", [1e-120, 1e-9, 1e100])
def test_factors(unit):
    rows, slope = _rows(3, 2000)
    square = twins.squares(rows)
    np.testing.assert_array_equal(
        kernels.clip_factors(slope, square, unit, 2.0**30), twins.clip_factors(slope, square, unit, 2.0**30)
    )
    np.testing.assert_array_equal(
        kernels.weight_factors(slope, square, unit, 5.0, 2.0**30),
        twins.weight_factors(slope, square, unit, 5.0, 2.0**30),
    )
    np.testing.assert_array_equal(kernels.scaling_factors(slope, unit), twins.scaling_factors(slope, unit))


@WIDTHS
def test_add_rows(d):
    rows, factor = _factors(d)
    assert np.count_nonzero(factor) > 50
    np.testing.assert_array_equal(kernels.add_rows(rows, factor), twins.add_rows(rows, factor))


@WIDTHS
@pytest.mark.parametrize("name", ["add_clamped", "add_truncated"])
def test_coordinatewise_sums(d, name):
    rows, slope = _rows(d)
    factor = twins.scaling_factors(slope, 1e-9)
    limit = 2.0**30
    made = getattr(kernels, name)(rows, factor, limit)
    np.testing.assert_array_equal(made, getattr(twins, name)(rows, factor, limit))
    assert np.any(made)


@WIDTHS
def test_add_gram(d):
    rows, factor = _factors(d)
    factor = np.copysign(np.sqrt(np.abs(factor)), factor)
    square = twins.squares(rows)
    factor = np.where(factor**2 * square < 2.0**40, factor, 0.0)
    np.testing.assert_array_equal(kernels.add_gram(rows, factor), twins.add_gram(rows, factor))


@WIDTHS
def test_count_below(d):
    rows, _ = _rows(d)
    edges = frozen(np.resize([0.0, 1.0, -np.inf, np.inf, 1e150], d))
    np.testing.assert_array_equal(kernels.count_below(rows, edges), twins.count_below(rows, edges))


@pytest.mark.parametrize("substeps", [1, 2, 3, 12])
@pytest.mark.parametrize(("low", "high"), [(-10, 10), (-1022, 1024), (5, 6)])
def test_octave_counts(substeps, low, high):
    edges = np.exp2(np.arange(-3, 3, 1 / substeps))
    values = np.concatenate([neighbours.around(*edges), _rows(2)[0].ravel()])[:, np.newaxis]
    cells = (high - low) * substeps
    made = kernels.octave_counts(frozen(values).view(np.int64), low, cells, cuts(substeps))
    np.testing.assert_array_equal(made, twins.octave_counts(values, low, cells, substeps))
    assert made.sum() == np.count_nonzero(~np.isnan(values))


def test_blocks_of_the_largest_contributions_are_summed_exactly():
    rows = frozen(np.full((kernels.MAX_ROWS, 1), 2.0**40 - 1))
    total = kernels.add_rows(rows, np.ones(len(rows)))
    assert int(total[0]) == kernels.MAX_ROWS * (2**40 - 1)


def test_strided_rows_are_refused_by_the_compiler():
    with pytest.raises(Exception, match="No implementation of function"):
        kernels.squares(np.asfortranarray(np.ones((4, 3)))[::2])


def test_kernels_work_where_no_cache_can_be_written():
    code = (
        "import numpy as np; from tailguard.statistics import kernels;"
        "print(kernels.count_below(np.ones((3, 1)), np.ones(1)))"
    )
    nowhere = {"NUMBA_CACHE_DIR": os.devnull, "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
    environment = {**os.environ, **nowhere}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[3.]\n", "")
