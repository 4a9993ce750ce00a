"""Columns of equal weight: a released Gram matrix centres the rows, and turns and scales them.

In whitened coordinates noise of the same size in every direction does the least harm, the length of a row is its
leverage, and a step needs no other preconditioner.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tailguard.domains.base import Domain
from tailguard.domains.whole_space import WholeSpace
from tailguard.solvers.base import Estimate, FloatVector, Query, Released
from tailguard.solvers.metric_projection import metric_projection
from tailguard.solvers.preconditioner import Preconditioner
from tailguard.solvers.preparation import raw_units, units
from tailguard.statistics.gram import Gram
from tailguard.statistics.view import View

__all__ = ["Whitened", "centred", "whitened"]


@dataclass(frozen=True, eq=False)
class Whitened:
    """A view of whitened rows, and the way back.

    Parameters
    ----------
    view : View
        Its rows are z·basis, and 1 where there is an intercept.
    vectors, values : matrix, vector
        Eigenvectors and damped eigenvalues of the columns' released covariance: basis = vectors ÷ √values.
    """

    view: View
    vectors: NDArray[np.float64]
    values: FloatVector

    @property
    def plain(self) -> View:
        """The view of the prepared columns, for `scaled` points."""
        return replace(self.view, basis=None)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which entries of a point mean anything: as many columns as were dropped have an empty direction."""
        used = np.abs(self.vectors).max(axis=0, initial=0.0) > 0.0
        return np.append(used, True) if self.view.intercept else used

    def scaled(self, point: FloatVector) -> FloatVector:
        """Return a whitened point as slopes of the prepared columns, and the intercept."""
        d = len(self.vectors)
        return np.concatenate([self.vectors @ (point[:d] / np.sqrt(self.values)), point[d:]])

    def inside(self, point: FloatVector, domain: Domain, factors: FloatVector) -> FloatVector:
        """Return the nearest whitened point whose slopes × factors lie in the domain, in the metric of the rows."""
        point = np.where(self.kept, point, 0.0)
        if isinstance(domain, WholeSpace):
            return point
        d, k = len(self.vectors), point.size
        vectors = np.eye(k)
        vectors[:d, :d] = self.vectors
        metric = Preconditioner(vectors, np.append(self.values, np.ones(k - d)))
        nearest = metric_projection(self.scaled(point), factors, domain, metric)
        return np.concatenate([np.sqrt(self.values) * (self.vectors.T @ nearest[:d]), nearest[d:]])

    def raw(self, point: FloatVector, domain: Domain) -> Estimate:
        """Return a whitened point as an estimate in raw units, in the domain: the nearest one, as `inside` has it."""
        factors = self.view.target_scale / units(self.view)[1]
        return raw_units(self.plain, self.scaled(self.inside(point, domain, factors)), domain)


def centred(
    matrix: NDArray[np.float64], kept: NDArray[np.intp], noise: float, least: float
) -> tuple[NDArray[np.float64], FloatVector, float]:
    """Return the columns' covariance, their means and the mean weight, from a Gram matrix that ends with a column of 1.

    Parameters
    ----------
    matrix : matrix
        Released, per record.
    kept : vector of int
        Columns that count.
    noise : float
        In its diagonal; a mean is believed as far as it does not explain it.
    least : float
        Least mean weight that is believed.
    """
    weight = min(max(float(matrix[-1, -1]), least), 1.0)
    mean = matrix[kept, -1] / weight
    mean = mean * max(0.0, 1.0 - 0.5 * kept.size * (noise / weight) ** 2 / max(float(mean @ mean), 1e-300))
    return matrix[np.ix_(kept, kept)] / weight - np.outer(mean, mean), mean, weight


def whitened(
    step: str, view: View, radius: float, least: float, ridge: float, n: int, bits: int
) -> Generator[Query, Released, Whitened]:
    """Ask for the Gram matrix of the rows shortened to `radius` and return the view in which it is the identity.

    The noise of the k(k+1)/2 released entries is a Gaussian orthogonal matrix, of spectral norm about σ√(2k). That and
    `ridge` are added to every eigenvalue, so that directions that are mostly noise shrink instead of growing; along
    them the fit moves little, as with a ridge penalty. A dropped column is 0 in every row, so that all that was
    released of it is noise, and is forgotten.

    Parameters
    ----------
    step : str
        The plan's step, a single `Gram`.
    view : View
        Prepared.
    radius : float
        Released.
    least : float
        Share of the rows that are not longer than that: the mean weight of shortened rows is at least as large.
    ridge : float
        Smallest variance of a direction that is believed.
    n, bits : int
        Number of records, bits of the grid.
    """
    gram = Gram(view, radius, bits)
    reply = yield Query(step, gram)
    matrix, noise = gram.matrix(reply.value) / n, reply.noise / n
    d = view.dimension_in
    scale = np.asarray(view.scale, dtype=np.float64)
    kept = np.flatnonzero(np.isfinite(scale))
    square, mean, weight = (
        centred(matrix, kept, noise, least) if view.intercept else (matrix[np.ix_(kept, kept)], 0.0, 1.0)
    )
    found, inner = np.linalg.eigh(square)
    vectors, values = np.zeros((d, d)), np.ones(d)
    vectors[kept, : kept.size] = inner
    values[: kept.size] = np.maximum(found, 0.0) + noise * np.sqrt(2.0 * kept.size) / weight + ridge
    centre = np.zeros(d) if view.centre is None else np.array(view.centre, dtype=np.float64)
    centre[kept] += scale[kept] * mean
    return Whitened(replace(view, centre=centre, basis=vectors / np.sqrt(values)), vectors, values)
