"""The benchmark of public scales, on one small task."""

from benchmarks import public_scales
from benchmarks.datasets.linear import Linear


def test_public_scales_help_where_a_budget_is_small():
    ((name, epsilon, (without, ours, theirs)),) = public_scales.table([Linear("t3", 4000, 20)], [0.15], range(500, 503))
    assert (name, epsilon) == ("linear t3 n=4000 d=20", 0.15)
    assert ours < 0.8 * without
    assert 0.0 < theirs < 1.0
