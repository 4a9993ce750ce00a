"""Losses, data sets and domains on which certified minimisers are tried."""

import numpy as np

from tailguard import domains, losses

LOSSES = [
    losses.Squared(),
    losses.Huber(1.0),
    losses.Logistic(),
    losses.Absolute(0.05),
    losses.Hinge(0.1),
]
LABELS = ("logistic", "balanced logistic", "hinge")


def convex_domains(d):
    """One of each kind of domain that has a projection; each binds on the data below."""
    corners = [tuple(row) for row in 0.3 * np.vstack([np.zeros(d), np.eye(d)])]
    box = domains.Box((-0.05,) * d, (0.1,) * d)
    return {
        "whole": None,
        "whole space": domains.WholeSpace(d),
        "ball": domains.L2Ball(d, 0.2),
        "shifted ball": domains.L2Ball(d, 0.2, (0.1,) * d),
        "box": box,
        "simplex": domains.Simplex(d, 0.5),
        "l1 ball": domains.L1Ball(d, 0.3),
        "ellipsoid": domains.Ellipsoid.from_axes(np.linspace(0.1, 0.4, d).tolist()),
        "polytope": domains.Polytope(corners),
        "intersection": domains.BallIntersection(box, (0.0,) * d, 0.12),
    }


def ordinary(rng, m, d, loss):
    """Student rows and noise."""
    X = rng.standard_t(2.5, (m, d))
    y = X @ np.linspace(1.0, -1.0, d) + rng.standard_t(2.5, m)
    return X, (y > 0).astype(float) if loss.name in LABELS else y


def _huge(rng, X, y, labels):
    X[::7] *= 1e12
    return X, y


def _interpolated(rng, X, y, labels):
    """Long rows whose targets all agree with one point: kinks meet at the minimiser."""
    X[::2] *= 10.0 ** rng.uniform(0, 14, (len(X[::2]), 1))
    return X, y if labels else X @ np.linspace(0.3, -0.2, X.shape[1])


def _equal(rng, X, y, labels):
    X[:] = X[0] * 1e6
    return X, y


def _lines(rng, X, y, labels):
    """All rows nearly parallel, with lengths from 1e-90 to 1e90."""
    X[:] = X[0] + 1e-9 * X
    return X * 10.0 ** rng.uniform(-90, 90, (len(X), 1)), y


def _junk(rng, X, y, labels):
    bad = [np.nan, np.inf, -np.inf, 1e308, 1e-308, 5e-324, 0.0, 1e100, -1e154]
    for i, value in enumerate(bad):
        X[2 * i % len(X), i % X.shape[1]] = value
        y[(2 * i + 1) % len(X)] = value
    return X, y


def _small(rng, X, y, labels):
    """Short rows with far targets: a residual that a thousand roundings separate from its prediction."""
    return X * 1e-8, y if labels else y * 1e9


ATTACKS = {
    "ordinary": lambda rng, X, y, labels: (X, y),
    "huge": _huge,
    "interpolated": _interpolated,
    "equal": _equal,
    "lines": _lines,
    "junk": _junk,
    "small": _small,
}


def attacked(name, rng, m, d, loss):
    """A data set of the given kind."""
    X, y = ordinary(rng, m, d, loss)
    return ATTACKS[name](rng, X, y, loss.name in LABELS)
