"""The minimiser of an objective in arithmetic of 60 digits, from the numbers that the objective stores."""

import mpmath as mp
import numpy as np

DIGITS = 60


class Exact:
    """F over the clip, as a function of vectors of mpf."""

    def __init__(self, objective):
        records = objective.records
        self.loss, self.d, self.size = objective.loss, objective.dimension, objective.size
        self.clip, self.ridge = mp.mpf(objective.clip), mp.mpf(objective.ridge)
        self.units = [[mp.mpf(u) for u in row] for row in records.units.tolist()]
        self.norms, self.gains, self.offsets, self.targets = (
            [mp.mpf(v) for v in values.tolist()]
            for values in (records.norms, records.gains, records.offsets, records.targets)
        )
        tilt = np.zeros(self.d) if objective.tilt is None else objective.tilt
        self.centre = [
            mp.mpf(c) - mp.mpf(b) / (self.ridge * self.size) for c, b in zip(objective.centre, tilt, strict=True)
        ]

    def parts(self, w):
        """Gradient and generalised Hessian at w."""
        gradient = [self.ridge / self.clip * (a - c) for a, c in zip(w, self.centre, strict=True)]
        hessian = mp.eye(self.d) * (self.ridge / self.clip)
        for unit, norm, gain, offset, target in zip(
            self.units, self.norms, self.gains, self.offsets, self.targets, strict=True
        ):
            prediction = norm * mp.fdot(unit, w) - offset
            slope, bend = (gain / self.clip * part for part in derivatives(self.loss, prediction, target))
            clipped = min(max(slope, -1), 1)
            for j, u in enumerate(unit):
                gradient[j] += clipped * u / self.size
                for k, v in enumerate(unit):
                    hessian[j, k] += (bend * norm if abs(slope) < 1 else 0) * u * v / self.size
        return gradient, hessian


def derivatives(loss, p, t):
    """First and second derivative of a loss of the library at one prediction."""
    if loss.name == "squared":
        return p - t, mp.mpf(1)
    if loss.name in ("huber", "absolute"):
        width = mp.mpf(loss.threshold if loss.name == "huber" else loss.smoothing)
        top = width if loss.name == "huber" else mp.mpf(1)
        slope = top * (p - t) / width
        return min(max(slope, -top), top), top / width if abs(p - t) < width else mp.mpf(0)
    if loss.name == "logistic":
        share = 1 / (1 + mp.exp(-p))
        return share - t, share * (1 - share)
    width, sign = mp.mpf(loss.smoothing), 2 * t - 1
    share = min(max((1 - sign * p) / width, 0), 1)
    return -sign * share, 1 / width if 0 < share < 1 else mp.mpf(0)


def exact_minimiser(objective, near, radius=None):
    """Minimiser over R^d, or over the ball of the given radius around 0, as a list of mpf."""
    with mp.workdps(DIGITS):
        exact = Exact(objective)
        start = [mp.mpf(v) for v in np.asarray(near).tolist()]
        free = _newton(exact, start, mp.mpf(0))
        if radius is None or mp.norm(mp.matrix(free)) <= radius:
            return free
        low, high = mp.mpf(0), mp.mpf(1)
        while mp.norm(mp.matrix(_newton(exact, start, high))) > radius:
            low, high = high, 2 * high
        return _bisect(exact, start, low, high, mp.mpf(radius))


def distance(point, exact):
    """Distance of a float vector from a list of mpf, rounded up to a float."""
    with mp.workdps(DIGITS):
        return float(mp.norm(mp.matrix([mp.mpf(float(a)) - b for a, b in zip(point, exact, strict=True)]))) * (
            1 + 1e-15
        )


def _bisect(exact, start, low, high, radius):
    for _ in range(90):
        middle = (low + high) / 2
        start = _newton(exact, start, middle)
        low, high = (middle, high) if mp.norm(mp.matrix(start)) > radius else (low, middle)
    return start


def _newton(exact, w, multiplier):
    """Newton's method with halving, on F + ½·multiplier·‖w‖², until the gradient vanishes to 30 digits."""
    for _ in range(300):
        gradient, hessian = _tilted(exact, w, multiplier)
        size = mp.norm(mp.matrix(gradient))
        if size < mp.mpf(10) ** -30:
            return w
        step = mp.lu_solve(hessian, -mp.matrix(gradient))
        share = mp.mpf(1)
        while share > mp.mpf(2) ** -60:
            candidate = [a + share * s for a, s in zip(w, step, strict=True)]
            following, _ = _tilted(exact, candidate, multiplier)
            if mp.fdot(following, step) <= mp.mpf(10) ** -40 or mp.norm(mp.matrix(following)) < size / 2:
                break
            share /= 2
        w = candidate
    raise AssertionError("the reference did not converge")


def _tilted(exact, w, multiplier):
    gradient, hessian = exact.parts(w)
    return [g + multiplier * a for g, a in zip(gradient, w, strict=True)], hessian + mp.eye(exact.d) * multiplier
