"""The inverse of a noisy Gram matrix, damped by its own noise."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tailguard.solvers.base import FloatVector, Query, Released
from tailguard.statistics.gram import Gram
from tailguard.statistics.view import View

__all__ = ["Preconditioner", "kept_entries", "preconditioner"]

CAUTION = 1.3
"""The Gram matrix of shortened rows lies below the true one: steps are that much shorter."""


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """Eigenvectors and damped eigenvalues of a released Gram matrix; dropped columns have no part in them."""

    vectors: NDArray[np.float64]
    values: FloatVector

    def apply(self, gradient: FloatVector) -> FloatVector:
        """Return P·gradient."""
        return np.asarray(self.vectors @ (self.vectors.T @ gradient / self.values))


def preconditioner(
    step: str, view: View, radius: float, ridge: float, n: int, bits: int
) -> Generator[Query, Released, Preconditioner]:
    """Ask for the Gram matrix of the rows shortened to `radius` and return its damped inverse.

    The noise of the k(k+1)/2 released entries is independent, of scale σ on the diagonal and σ/√2 off it: a Gaussian
    orthogonal matrix, of spectral norm about σ√(2k). Adding that to every eigenvalue makes the damped matrix no
    smaller than the true one, with high probability, so that no step overshoots because of noise. `ridge` is the
    smallest eigenvalue that is believed, in units of a column's variance: directions below it are left alone. A dropped
    column is 0 in every row, so that all that was released of it is noise, and is forgotten.
    """
    gram = Gram(view, radius, bits)
    reply = yield Query(step, gram)
    kept = np.flatnonzero(kept_entries(view))
    values, inner = np.linalg.eigh(gram.matrix(reply.value)[np.ix_(kept, kept)] / n)
    vectors = np.zeros((view.dimension, kept.size))
    vectors[kept] = inner
    noise = reply.noise / n * np.sqrt(2 * kept.size)
    return Preconditioner(vectors, CAUTION * (np.maximum(values, 0.0) + noise + ridge))


def kept_entries(view: View) -> NDArray[np.bool_]:
    """Return which entries of a row are not those of dropped columns."""
    if view.scale is None or view.basis is not None:
        return np.ones(view.dimension, dtype=bool)
    scale = np.asarray(view.scale) if view.columns is None else np.asarray(view.scale)[np.asarray(view.columns)]
    return np.append(np.isfinite(scale), True) if view.intercept else np.isfinite(scale)
