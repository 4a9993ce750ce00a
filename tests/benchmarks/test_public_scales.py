"""The benchmark of public scales, on one small task."""

from benchmarks import public_scales
from benchmarks.datasets.linear import Linear


def test_public_scales_help_where_nothing_can_be_planned_without():
    ((name, epsilon, (without, ours, theirs)),) = public_scales.table([Linear("t3", 2000, 5)], [0.3], range(500, 502))
    assert (name, epsilon) == ("linear t3 n=2000 d=5", 0.3)
    assert ours < without
    assert 0.0 < theirs < 1.0
