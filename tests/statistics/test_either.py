"""A release that is a histogram or a sum: the same numbers as alone, and the same sensitivity."""

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.losses import Squared
from tailguard.statistics import Columns, Either, Gradient, Octaves, Slope, View, Weighted

RNG = np.random.default_rng(0)
X, Y = RNG.standard_t(3, (500, 3)), RNG.standard_t(3, 500)
GRADIENT = Gradient(View(3), Squared(), np.array([0.5, -1.0, 2.0]))
COUNTS, SUM = Octaves(Slope(GRADIENT), -8, 8, 2, 30), Weighted(GRADIENT, 2.0, 0.5, 30)


@pytest.mark.parametrize("content", [COUNTS, SUM], ids=["counts", "sum"])
def test_the_numbers_are_those_of_the_content_and_then_zeros(content):
    either, size = Either(content, 40, 30), content.dimension
    found, alone = either.kernel()(X, Y), content.kernel()(X, Y)
    np.testing.assert_allclose(found[:size] * either.unit, alone * content.unit, rtol=1e-12)
    assert found.shape == (40,)
    assert not found[size:].any()


def test_a_count_costs_as_much_as_a_sum_and_has_as_much_room():
    """With the same noise per unit of sensitivity, a count is as exact as alone, but for rounding √2·L down."""
    either = Either(COUNTS, 40, 30)
    assert either.sensitivity("l2") == Either(SUM, 40, 30).sensitivity("l2") == SUM.sensitivity("l2")
    noise, alone = either.sensitivity("l2") * either.unit, COUNTS.sensitivity("l2") * COUNTS.unit
    assert alone <= noise < alone * (1.0 + 1e-8)


def test_the_coarsest_grid_rounds_down():
    """One bit: √2·2 = 2.83 is 2 grid steps, so that a move changes the integers by 2√2, and not by more than 4."""
    counts = Octaves(Slope(GRADIENT), -8, 8, 2, 1)
    assert Either(counts, 32, 1).kernel()(X[:1], Y[:1]).sum() == 2


def test_a_content_that_is_longer_than_it_says_is_not_hidden():
    class Twice(Slope):
        def values(self, X, y):
            return np.tile(super().values(X, y), 2)

    either = Either(Octaves(Twice(GRADIENT), -8, 8, 2, 30), 40, 30)
    assert either.kernel()(X, Y).size > either.dimension


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((Octaves(Columns(View(3)), -8, 8, 2, 30), 200, 30), "content"),
        ((GRADIENT, 40, 30), "content"),
        ((SUM, 2, 30), "length"),
        ((COUNTS, 31, 30), "length"),
        ((SUM, 40, 29), "bits"),
    ],
)
def test_what_has_another_sensitivity_is_refused(arguments, name):
    with pytest.raises(ParameterError, match=f"'{name}' parameter of Either"):
        Either(*arguments)
