"""Nets, phases and geometric aggregation: what they are in plain numbers."""

import numpy as np
import pytest

from tailguard.domains import Box, L2Ball, Simplex
from tailguard.errors import ParameterError
from tailguard.losses import Biweight, Squared
from tailguard.solvers import Net, Phase, Released
from tailguard.solvers.ending import Ending
from tailguard.solvers.localisation import aggregated
from tailguard.solvers.mapping_phases import MappingPhase, MappingPhases
from tailguard.solvers.net import inside, picked
from tailguard.solvers.net_search import NetSearch
from tailguard.solvers.output_phases import DoubleOutput, OutputPhase, PotentialPhases


@pytest.mark.parametrize("count", [1, 2, 3, 6, 11])
def test_aggregation_ignores_a_minority(count):
    """If more than half of the points are within r of a place, the answer is within 3r, whatever the others do."""
    rng = np.random.default_rng(count)
    for _ in range(50):
        place, good = rng.standard_normal(3), count // 2 + 1
        near = rng.standard_normal((good, 3))
        near *= rng.random((good, 1)) / np.linalg.norm(near, axis=1, keepdims=True)
        far = 1e6 * rng.standard_normal((count - good, 3))
        points = list(rng.permutation(np.vstack([place + near, far])))
        assert np.linalg.norm(aggregated(points) - place) <= 3.0


def test_a_mean_or_median_of_coordinates_would_be_another_thing():
    points = [np.array(p, dtype=float) for p in ((0, 0), (0, 1), (9, 0), (0, 9), (1, 0))]
    assert aggregated(points).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_nets_cover_their_cube(dimension):
    net, rng = Net(9, 2.0), np.random.default_rng(0)
    centre = rng.standard_normal(dimension)
    points = net.points(centre)
    assert len(points) == net.count(dimension) == 9**dimension
    anywhere = centre + rng.uniform(-2.0, 2.0, (500, dimension))
    gaps = np.linalg.norm(anywhere[:, None] - points, axis=2).min(axis=1)
    assert gaps.max() <= np.sqrt(dimension) * 2.0 / 8 + 1e-12


def test_nested_nets_are_fine_near_their_centre():
    net = Net(13, 8.0, levels=8, shrink=3.0)
    points = net.points(np.zeros(1))
    assert len(points) == net.count(1) == 104
    for distance in np.geomspace(0.01, 7.9, 50):
        assert np.abs(points - distance).min() <= 0.26 * distance


def test_points_are_moved_into_a_region():
    points = Net(5, 3.0).points(np.array([1.0, -1.0]))
    for region in (Box((-1.0, 0.0), (1.0, 0.5)), L2Ball(2, 0.7), L2Ball(2, 0.7, (2.0, 1.0))):
        np.testing.assert_allclose(inside(region, points), [region.project(point) for point in points], atol=1e-12)


def test_a_pick_outside_the_net_is_the_nearest_end():
    points = np.arange(6.0).reshape(3, 2)
    for value, row in ((-5.0, 0), (1.0, 1), (1e300, 2)):
        assert picked(Released("net", np.array([value]), 0.0), points).tolist() == points[row].tolist()


def test_sizes_of_the_blocks_of_a_phase():
    phase = Phase(repetitions=3, blocks=12, first=6, ridge=1.0, clip=1.0)
    assert phase.sizes(100) == [9, 8, 8]


PHASE = {"repetitions": 1, "blocks": 2, "first": 0, "ridge": 1.0, "clip": 1.0}
COMMON = {"loss": Squared(), "domain": L2Ball(1, 1.0), "n": 10, "d": 1, "bits": 20}


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Phase(**PHASE | {"first": 2}), "'first'"),
        (lambda: Phase(**PHASE | {"ridge": 0.0}), "'ridge'"),
        (lambda: MappingPhase(**PHASE, net=Net(3, 1.0), step=0.0), "'step'"),
        (lambda: OutputPhase(**PHASE, radius=-1.0), "'radius'"),
        (lambda: Net(1, 1.0), "'side'"),
        (lambda: Net(2, 1.0, shrink=1.0), "'shrink'"),
        (lambda: MappingPhases(**COMMON, phases=()), "'phases'"),
        (lambda: MappingPhases(**COMMON | {"domain": Simplex(1)}, phases=(Phase(**PHASE),)), "'domain'"),
        (
            lambda: DoubleOutput(**COMMON | {"loss": Biweight(1.0)}, phases=(OutputPhase(**PHASE, radius=1.0),)),
            "'loss'",
        ),
    ],
)
def test_rules(make, match):
    with pytest.raises(ParameterError, match=match):
        make()


def test_the_ball_of_a_potential_net():
    solver = PotentialPhases(
        **COMMON | {"domain": L2Ball(2, 5.0), "d": 2}, phases=(OutputPhase(**PHASE, radius=1.0),), net=Net(9, 1.0)
    )
    cube = Net(9, 1.0).points(np.zeros(2))
    assert solver.points == np.count_nonzero(np.linalg.norm(cube, axis=1) <= 1.0) == 49


def test_ridges_of_a_search_are_checked():
    ending = Ending(10, 20, None, 0.0, None)
    with pytest.raises(ParameterError, match="'picks'"):
        NetSearch(Squared(), L2Ball(1, 1.0), 10, 1, 20, False, None, 0.0, 1.0, Net(3, 1.0), (-1.0,), None, ending)
