"""Dense records as sparse rows: hostile values, −0 and explicit zeros among what is stored."""

import numpy as np

from tailguard.statistics.sparse_rows import SparseRows


def sparsely(X, rng, share=0.4):
    """Return sparse rows that store a share of the entries of X, and the same rows as an array.

    Some rows are empty, some full; some stored entries are 0 or −0.
    """
    m, d = X.shape
    stored = rng.random((m, d)) < rng.choice([0.0, share, share, share, 1.0], size=(m, 1))
    X = np.where(stored, np.where(rng.random((m, d)) < 0.1, rng.choice([0.0, -0.0], (m, d)), X), 0.0)
    return rows_of(X, stored), X


def rows_of(X, stored):
    """Return sparse rows that store these entries, from the middle of longer arrays."""
    indptr = 3 + np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    indices = np.concatenate([[0, 0, 0], np.nonzero(stored)[1], [0]]).astype(np.int32)
    data = np.concatenate([[np.nan] * 3, X[stored], [np.nan]])
    return SparseRows(indptr, indices, data, X.shape[1])
