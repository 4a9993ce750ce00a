"""Nets: points around a centre from which one is picked. Their number is public; where they lie may be released."""

from dataclasses import dataclass

import numpy as np

from tailguard._validate import integer, real
from tailguard.domains.box import Box
from tailguard.solvers.base import FloatVector, Released, Setting
from tailguard.statistics.arrays import FloatMatrix
from tailguard.statistics.gradient_mapping import Region

__all__ = ["Net", "inside", "picked"]


@dataclass(frozen=True)
class Net(Setting):
    """A grid on a cube, or grids on nested cubes: fine near the centre, coarse far from it.

    Parameters
    ----------
    side : int
        Points along an axis; at least 2.
    reach : float
        Half of the largest cube's width.
    levels : int, default=1
        Number of cubes.
    shrink : float, default=3.0
        How much smaller each cube is than the one around it.

    Examples
    --------
    >>> Net(3, 1.0, levels=2, shrink=4.0).points(np.array([5.0])).ravel()
    array([4.  , 5.  , 6.  , 4.75, 5.  , 5.25])
    """

    side: int
    reach: float
    levels: int = 1
    shrink: float = 3.0

    def __post_init__(self) -> None:
        integer("side", self.side, "Net", at_least=2)
        real("reach", self.reach, "Net", above=0.0)
        integer("levels", self.levels, "Net")
        real("shrink", self.shrink, "Net", above=1.0)

    def count(self, dimension: int) -> int:
        """Return the number of points."""
        return int(self.levels * self.side**dimension)

    def points(self, centre: FloatVector) -> FloatMatrix:
        """Return the points around a centre, one a row."""
        axis = np.linspace(-self.reach, self.reach, self.side)
        cube = np.stack(np.meshgrid(*[axis] * centre.size, indexing="ij"), axis=-1).reshape(-1, centre.size)
        return np.asarray(centre + np.concatenate([cube * self.shrink**-level for level in range(self.levels)]))


def inside(region: Region, points: FloatMatrix) -> FloatMatrix:
    """Return the nearest points of a region, row by row."""
    if isinstance(region, Box):
        return np.clip(points, region.low, region.high)
    centre = np.zeros(points.shape[1]) if region.centre is None else np.array(region.centre)
    away = points - centre
    lengths = np.linalg.norm(away, axis=1, keepdims=True)
    return np.asarray(centre + away * np.minimum(1.0, region.radius / np.maximum(lengths, region.radius)))


def picked(reply: Released, points: FloatMatrix) -> FloatVector:
    """Return the point of a net that a release names."""
    return np.asarray(points[int(np.clip(reply.value[0], 0, len(points) - 1))])
