"""Distance and direction from a point to the bulk of a few released means: program (27) of Zhao et al. 2024.

The program maximises an order statistic of projections over the unit sphere. It is not convex, so the search is a
heuristic: smoothed ascent from many fixed starts, then an active-set polish of the best. How good it is decides
accuracy, never privacy; `iterative_mean.md` says how much of the optimum is needed.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import ndtri

from tailguard._validate import refuse
from tailguard.solvers.base import FloatVector

__all__ = ["FloatMatrix", "estimate"]

FloatMatrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class _Effort:
    """How hard to search.

    Parameters
    ----------
    windows : tuple of float
        Shares of the groups over which the order statistic is smoothed, one after another.
    cover, polished : int
        Most directions that are spread over the sphere, and most that are polished.
    """

    windows: tuple[float, ...]
    cover: int
    polished: int


# Starts that cover the sphere find every hill, and a wide window would only merge some. More than three dimensions
# cannot be covered: a wide window then leads to where the hills are high.
_DENSE, _SPARSE = _Effort((0.03, 0.01, 0.0), 256, 64), _Effort((0.1, 0.03, 0.01, 0.0), 64, 24)
_MANY, _SOME = 2**17, 2**15  # k × d × (cover or polished) is at most this, unless they are few
_FEWEST = 16, 2  # starts of the cover, and directions polished
_ROUNDS = 8  # ascent steps in each window
_POLISH_STEPS = 30
_LENGTHS = np.array([4.0, 3.0, 2.0, 1.5, 1.0, 0.7, 0.5, 0.35, 0.25, 0.12, 0.06, 0.03, 0.015, 0.007])
_SAME = 0.99999  # cosine of directions of which only the better one is followed
_FAR = 1e6  # bulk radii beyond which a group counts by its direction only
_TINY = 1e-12


def estimate(groups: FloatMatrix, centre: FloatVector) -> tuple[float, FloatVector]:
    """Return a solution (s, u) of program (27) of Zhao et al. 2024.

    Maximise s over s and u subject to ‖u‖₂ = 1 and ⟨Q_j − c, u⟩ ≥ s for at least 0.9·k of the k groups j. For a given u
    the best s is the ⌈0.9k⌉-th largest projection, the level of u.

    Parameters
    ----------
    groups : (k, d) matrix
        Released group means Q_1 … Q_k, finite.
    centre : (d,) vector
        The point c, finite.

    Returns
    -------
    s : float
        Estimated distance from c to the mean; negative if c lies deep inside the groups.
    u : (d,) vector
        Estimated direction, of norm 1.

    Notes
    -----
    *Guarantee.* Deterministic, and feasible whatever the search does: s is the level of u.

    *Accuracy.* Exact for d = 1. Otherwise a local maximum; for d = 2 and 3 it was within 0.4 % of brute force in all of
    1320 clouds.

    Examples
    --------
    >>> groups = np.array([[3.0, 4.0], [3.0, 4.0], [6.0, 8.0]])
    >>> distance, direction = estimate(groups, np.zeros(2))
    >>> round(distance, 9), direction.round(9).tolist()
    (5.0, [0.6, 0.8])
    """
    offsets, exponent = _offsets(*_checked(groups, centre))
    k, d = offsets.shape
    radius = np.partition(_norms(offsets), _kept(k) - 1)[_kept(k) - 1]
    if radius == 0.0:  # 90 % of the projections are 0 in every direction
        return 0.0, np.eye(1, d)[0]
    directions = np.array([[1.0], [-1.0]]) if d == 1 else _search(offsets / radius)
    levels = _levels(offsets, directions)
    best = int(np.argmax(levels))
    return float(np.ldexp(levels[best], exponent)), directions[best]


def _checked(groups: FloatMatrix, centre: FloatVector) -> tuple[FloatMatrix, FloatVector]:
    groups, centre = np.asarray(groups, dtype=np.float64), np.asarray(centre, dtype=np.float64)
    if groups.ndim != 2 or not groups.size:
        raise refuse("groups", "estimate", "a matrix with a row for each of at least one group", groups.shape)
    if centre.shape != groups.shape[1:]:
        raise refuse("centre", "estimate", f"a vector of length {groups.shape[1]}", centre.shape)
    if not (np.isfinite(groups).all() and np.isfinite(centre).all()):
        raise refuse("groups", "estimate", "finite, and so must the centre", "infinity or NaN")
    return groups, centre


def _offsets(groups: FloatMatrix, centre: FloatVector) -> tuple[FloatMatrix, int]:
    """Return Q_j − c in units of a power of two, so that no square overflows or vanishes."""
    _, first = np.frexp(max(np.abs(groups).max(), np.abs(centre).max()))
    offsets = np.ldexp(groups, -first) - np.ldexp(centre, -first)
    _, second = np.frexp(np.abs(offsets).max())
    return np.ldexp(offsets, -second), int(first + second)


def _kept(k: int) -> int:
    """Return ⌈0.9k⌉, in integers: 0.9 is not a float."""
    return -(-9 * k // 10)


def _levels(points: FloatMatrix, directions: FloatMatrix) -> FloatVector:
    rank = len(points) - _kept(len(points))
    levels: FloatVector = np.partition(directions @ points.T, rank, axis=1)[:, rank]
    return levels


def _norms(points: FloatMatrix) -> FloatVector:
    """Return the norm of each row; wild rows must not make the squares of the others vanish."""
    largest = np.abs(points).max(axis=1)
    norms: FloatVector = largest * np.linalg.norm(points / np.where(largest > 0.0, largest, 1.0)[:, None], axis=1)
    return norms


def _unit(vectors: FloatMatrix) -> FloatMatrix:
    """Return vectors of norm 1 in the same directions; 0 has none and is given the first axis."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(norms > 0.0, vectors / np.where(norms > 0.0, norms, 1.0), np.eye(1, vectors.shape[-1])[0])


@dataclass(frozen=True, eq=False)
class _Cloud:
    """Offsets Q_j − c along their principal axes, in units of the bulk, and their variance along each axis."""

    points: FloatMatrix
    spread: FloatVector

    def slopes(self, directions: FloatMatrix, window: float) -> tuple[FloatVector, FloatMatrix]:
        """Return the level s of each direction u, and an ascent step along the sphere.

        The gradient of a quantile of projections is the mean of the points whose projection is that quantile; a window
        of ranks makes that a mean of several points. The step divides by the curvature that a Gaussian of this spread
        would have: |s| + z·v/√⟨u², v⟩ for variances v, where z·√⟨u², v⟩ = median − s.
        """
        k = len(self.points)
        rank, reach = k - _kept(k), int(window * k)
        first, last = max(rank - reach, 0), min(rank + reach, k - 1)
        projections = directions @ self.points.T
        ordered = np.partition(projections, sorted({first, rank, last, k // 2}), axis=1)
        level, median = ordered[:, [rank]], ordered[:, [k // 2]]
        inside = (projections >= ordered[:, [first]]) & (projections <= ordered[:, [last]])
        gradient = inside.astype(np.float64) @ self.points / inside.sum(axis=1, keepdims=True)
        gradient -= np.sum(gradient * directions, axis=1, keepdims=True) * directions
        curvature = np.abs(level) + (median - level) * self.spread / (np.square(directions) @ self.spread)[:, None]
        return level[:, 0], gradient / (curvature + _TINY)


def _search(offsets: FloatMatrix) -> FloatMatrix:
    """Return local maxima of the level, for offsets of which 90 % lie in the unit ball."""
    effort = _DENSE if offsets.shape[1] <= 3 else _SPARSE
    cloud, axes = _principal(offsets)
    directions = _starts(cloud, min(max(_MANY // offsets.size, _FEWEST[0]), effort.cover))
    for window in effort.windows:
        directions = _distinct(_ascend(cloud, directions, window))
    highest = directions[: min(max(_SOME // offsets.size, _FEWEST[1]), effort.polished)]
    return _unit(np.stack([_polish(cloud.points, direction) for direction in highest]) @ axes.T)


def _principal(offsets: FloatMatrix) -> tuple[_Cloud, FloatMatrix]:
    norms = _norms(offsets)[:, None]
    bulk = offsets / np.maximum(norms, 1.0)  # what lies outside shall not set the axes
    spread, axes = np.linalg.eigh(np.cov(bulk.T, bias=True))
    near = offsets / np.maximum(norms / _FAR, 1.0)
    return _Cloud(near @ axes, np.maximum(spread, 1e-10 * spread[-1]) + 1e-30), axes


def _starts(cloud: _Cloud, count: int) -> FloatMatrix:
    """Return where to start: middles and members of the cloud, its axes, and a cover of the sphere in two metrics.

    Dividing by the variances aims at where the cloud is thin, which is where levels are high.
    """
    k, d = cloud.points.shape
    middles = np.stack([cloud.points.mean(axis=0), np.median(cloud.points, axis=0)])
    members = cloud.points[np.argsort(cloud.points[:, -1])[:: max(k // _FEWEST[0], 1)]]
    axes = np.eye(min(d, 8), d)  # the thinnest
    cover = _cover(count, d)
    thin = cover / np.sqrt(cloud.spread)
    return _unit(np.concatenate([middles, middles / cloud.spread, members, axes, -axes, cover, thin]))


def _cover(count: int, d: int) -> FloatMatrix:
    """Return a Kronecker sequence with the powers of 2^(1/(d+1)), made normal. The factor keeps neighbours apart."""
    rates = 1000.0 * 2.0 ** (np.arange(1, d + 1) / (d + 1))
    return np.asarray(ndtri(np.outer(np.arange(1, count + 1), rates) % 1.0))


def _ascend(cloud: _Cloud, directions: FloatMatrix, window: float) -> FloatMatrix:
    """Climb from each direction, never down: a step that does not gain is halved. Return the highest first."""
    levels, slopes = cloud.slopes(directions, window)
    lengths = np.ones((len(directions), 1))
    for _ in range(_ROUNDS):
        trials = _unit(directions + lengths * slopes)
        trial_levels, trial_slopes = cloud.slopes(trials, window)
        gains = (trial_levels > levels)[:, None]
        directions, slopes = np.where(gains, trials, directions), np.where(gains, trial_slopes, slopes)
        levels = np.maximum(levels, trial_levels)
        lengths *= np.where(gains, 1.5, 0.5)
    return directions[np.argsort(-levels, kind="stable")]


def _distinct(directions: FloatMatrix) -> FloatMatrix:
    """Return the directions that are not next to an earlier one."""
    chosen: list[FloatVector] = []
    while len(directions):
        chosen.append(directions[0])
        directions = directions[directions @ directions[0] < _SAME]
    return np.stack(chosen)


def _polish(points: FloatMatrix, direction: FloatVector) -> FloatVector:
    """Climb along kinks: maximise the least projection of the groups next above the level, and search that line."""
    k, d = points.shape
    rank, reach = k - _kept(k), 4 * d + 20
    level = _levels(points, direction[None])[0]
    for _ in range(_POLISH_STEPS):
        projections = points @ direction
        order = np.argsort(projections)
        # Adding a multiple of u keeps 0 out of the hull, and never makes the least projection at the optimum smaller.
        lift = max(0.0, 0.1 * (projections[order[k // 2]] - level) - level)
        goal = _nearest(points[order[rank : rank + reach]] + lift * direction)
        trials = _unit(direction + _LENGTHS[:, None] * (_unit(goal) - direction))
        levels = _levels(points, trials)
        best = int(np.argmax(levels))
        if levels[best] <= level + 1e-9 * abs(level):
            break
        direction, level = trials[best], levels[best]
    return direction


def _nearest(vertices: FloatMatrix) -> FloatVector:
    """Return a positive multiple of the point of a convex hull that is nearest to 0, which is outside.

    Its direction maximises the least projection of the vertices. A least distance programme (Lawson and Hanson 1974,
    chapter 23): minimise ‖Vᵀw‖² + (Σw − 1)² over w ≥ 0.
    """
    k, d = vertices.shape
    system = np.concatenate([vertices.T, np.ones((1, k))])
    try:
        weights, _ = nnls(system, np.eye(1, d + 1, d)[0], maxiter=20 * k)
    except RuntimeError:  # rounding made it go in circles
        weights = np.ones(k)
    nearest: FloatVector = weights @ vertices
    return nearest
