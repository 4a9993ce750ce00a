"""Blocks: disjoint, complete, of the right sizes, spread evenly, and found without looking at the other rows."""

import numpy as np
import pytest

from tailguard.engines import WHOLE, Block
from tailguard.errors import ParameterError

SIZES = [(1, 1), (2, 1), (2, 2), (10, 3), (12, 5), (97, 97), (1000, 7), (5, 8), (4096, 64)]


@pytest.mark.parametrize(("n", "count"), SIZES)
def test_blocks_are_disjoint_and_cover_all_rows(n, count):
    rows = [Block(index, count).rows(n) for index in range(count)]
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(n))


@pytest.mark.parametrize(("n", "count"), SIZES)
def test_sizes_differ_by_at_most_one(n, count):
    sizes = [Block(index, count).size(n) for index in range(count)]
    assert sizes == [len(Block(index, count).rows(n)) for index in range(count)]
    assert set(sizes) <= {n // count, -(-n // count)}


@pytest.mark.parametrize(("n", "count"), SIZES)
def test_masks_agree_with_rows(n, count):
    for index in range(count):
        block = Block(index, count)
        mask = np.concatenate([block.mask(0, n // 3, n), block.mask(n // 3, n, n)])
        np.testing.assert_array_equal(np.flatnonzero(mask), block.rows(n))
        assert np.all(np.diff(block.rows(n)) > 0)


@pytest.mark.parametrize("n", [1000, 99_991, 100_000])
def test_every_block_is_spread_over_the_whole_file(n):
    """A stretch of rows gives every block its share, up to a few rows: no block is one corner of a sorted file."""
    for index in range(5):
        counts, _ = np.histogram(Block(index, 5).rows(n), bins=20, range=(0, n))
        assert np.all(np.abs(counts - n / 100) <= 4)


def test_large_files_do_not_overflow():
    n = 2**31
    rows = Block(123_456, 10**6).rows(n)
    assert len(rows) in (n // 10**6, n // 10**6 + 1)
    assert rows[0] >= 0
    assert rows[-1] < n
    assert Block(123_456, 10**6).mask(int(rows[7]), int(rows[7]) + 1, n)[0]
    with pytest.raises(ParameterError, match="'n' parameter of a partition into blocks"):
        Block(0, 2).rows(n + 1)


def test_whole():
    assert Block(0, 1) == WHOLE
    assert WHOLE.size(17) == 17


@pytest.mark.parametrize(("index", "count"), [(-1, 3), (3, 3), (0, 0), (0.5, 2)])
def test_other_blocks_are_refused(index, count):
    with pytest.raises(ParameterError, match="parameter of Block must be"):
        Block(index, count)
