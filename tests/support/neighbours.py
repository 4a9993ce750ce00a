"""Records that an adversary would put into the data, and the change that replacing one by another makes."""

from fractions import Fraction

import numpy as np

HUGE = np.finfo(float).max
HOSTILE = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 3.0),
    *(5e-324, -5e-324, 2.3e-308, 1e-300, 1e-160, -1e-160, 1e-140, 3e-141, 1e-100),
    *(1e6, -1e6, 1e12, -1e12, 1e100, -1e100, 1e149, 1e150, -1e150, 1.01e150, 1e154, -1.4e154),
    *(1e200, -1e200, 1e300, 1e308, -1e308, HUGE, -HUGE),
    *(np.inf, -np.inf, np.nan),
)
TINY = (5e-324, 1e-300, 1e-200, 1e-170, -1e-170, 1e-160, 1e-155, 1e-141, 1e-140)
STEEP = (1e130, -1e140, 1e150, 1e160, -1e200, 1e250, 1e300, 1e308, -HUGE)


def around(*thresholds):
    """Return ± each threshold and its neighbours one unit in the last place away."""
    values = [
        sign * value
        for threshold in thresholds
        for value in (threshold, np.nextafter(threshold, 0.0), np.nextafter(threshold, np.inf))
        for sign in (1.0, -1.0)
    ]
    return tuple(values)


def records(view, special, size, rng):
    """Return `size` adversarial raw records for a view; `special` are values of z or t worth trying.

    A tenth each: equal entries, one entry, entries drawn one by one from the pool, heavy-tailed draws with one of
    them spoilt, ones with a special target, rows whose squares underflow with a target that makes up for it. The
    rest is heavy-tailed on many scales. Half of the records are placed in the view's own coordinates.
    """
    d = view.dimension_in
    pool = np.array([*HOSTILE, *special])
    kind = rng.integers(10, size=size)
    Z = rng.standard_cauchy((size, d)) * 10.0 ** rng.integers(-3, 4, size=(size, 1))
    value = rng.choice(np.array([*special, *pool]), size=size)
    Z[kind == 0] = value[kind == 0, np.newaxis]
    spot = np.arange(d) == rng.integers(d, size=(size, 1))
    Z[kind == 1] = np.where(spot, value[:, np.newaxis], 0.0)[kind == 1]
    Z[kind == 2] = rng.choice(pool, size=(size, d))[kind == 2]
    Z[kind == 3] = np.where(spot, value[:, np.newaxis], Z)[kind == 3]
    Z[kind == 4] = 1.0
    Z[kind == 5] = rng.choice(TINY, size=(size, 1))[kind == 5]
    t = np.where(rng.random(size) < 0.7, rng.choice(pool, size=size), rng.standard_cauchy(size))
    t = np.where(kind == 4, rng.choice(np.array([*special, 0.0]), size=size), t)
    t = np.where(kind == 5, rng.choice(STEEP, size=size), t)
    return raw(view, Z, t, where=rng.random(size) < 0.5)


def raw(view, Z, t, where=True):
    """Return the raw records whose rows and targets are Z and t, in the rows `where`; Z and t themselves elsewhere."""
    centre = np.zeros(view.dimension_in) if view.centre is None else np.asarray(view.centre)
    scale = np.ones(view.dimension_in) if view.scale is None else np.asarray(view.scale)
    with np.errstate(all="ignore"):
        X = centre + np.where(np.isinf(scale), 1.0, scale) * Z
        y = view.target_centre + view.target_scale * t
    moved = np.broadcast_to(where, len(t))
    return np.where(moved[:, np.newaxis], X, Z), np.where(moved, y, t)


def contributions(statistic, X, y):
    """Return the integer contribution of each record on its own."""
    kernel = statistic.kernel()
    return np.stack([kernel(X[i : i + 1], y[i : i + 1]) for i in range(len(X))])


def changes(contribution, norm):
    """Yield for each record the norms of the changes that replacing it by every record makes, as floats."""
    for own in contribution:
        difference = np.abs((contribution - own).astype(float))  # integers below 2**53, exact
        if norm == "l2":
            yield np.sqrt(np.square(difference).sum(axis=1))
        else:
            yield difference.sum(axis=1) if norm == "l1" else difference.max(axis=1)


def within(difference, norm, sensitivity):
    """Return whether an integer vector has at most this norm, in exact arithmetic."""
    values = [abs(int(value)) for value in difference]
    bound = Fraction(sensitivity)
    if norm == "l2":
        return sum(value * value for value in values) <= bound * bound
    return (sum(values) if norm == "l1" else max(values)) <= bound
