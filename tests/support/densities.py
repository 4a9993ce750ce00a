"""The density of a perturbed minimiser, by brute force: how much can it grow when one record is replaced?"""

import math

import numpy as np

from tests.support.registry_minimisers import source


def log_density(statistic, X, y, scale, points):
    """Return the log density of the exact minimiser at each point, up to a constant, by change of variables.

    The tilt that makes w the minimiser is t(w) = −∇F(w)/(ridge·unit), with F the objective without a tilt; its density
    is exp(−‖t‖/scale), and the determinant of its derivative is taken by finite differences of the gradient alone.
    """
    objective = statistic._objective(source(X, y), np.zeros(statistic.dimension), None)
    found = []
    for w in points:
        tilt = objective.gradient(w) / (statistic.ridge * statistic.unit)
        found.append(_log_determinant(objective, w, statistic.ridge) - np.linalg.norm(tilt) / scale)
    return np.array(found)


def _log_determinant(objective, w, ridge):
    step = 1e-6 * (np.abs(w).max() + objective.clip / ridge / objective.size)
    columns = [objective.gradient(w + step * e) - objective.gradient(w - step * e) for e in np.eye(w.size)]
    return float(np.linalg.slogdet(np.array(columns) / (2.0 * step * ridge))[1])


def check_density(statistic, mechanism, multiplier, data, replacements, points):
    """Assert that no replacement of the first record makes any density grow by more than the event says.

    Returns the largest growth as a share of what is allowed, the tolerance's part left out.
    """
    allowed = mechanism.event(multiplier, statistic.sensitivity("tilt"), statistic.dimension).epsilon
    allowed -= mechanism.release_share / multiplier
    scale = multiplier * statistic.sensitivity("tilt")
    densities = []
    for record, target in replacements:
        X, y = (part.copy() for part in data)
        X[0], y[0] = record, target
        densities.append(log_density(statistic, X, y, scale, points))
    table = np.array(densities)
    worst = float((table.max(axis=0) - table.min(axis=0)).max())
    assert worst <= allowed * (1.0 + 1e-6), f"a density grows by e^{worst:.4g}, more than e^{allowed:.4g}"
    return worst / allowed


def aggressive(statistic, points):
    """Return records that pull as hard and bend as much as they may at some of the points, and hostile ones."""
    d, loss = statistic.dimension, statistic.loss
    length = math.sqrt(statistic.curvature / loss.smoothness)  # the longest row that keeps its whole weight
    rng = np.random.default_rng(0)
    found = [(np.full(d, np.nan), 0.0), (np.zeros(d), 1.0), (np.full(d, 1e300), 1.0), (np.full(d, 1e40), 1.0)]
    for w in points[:: max(1, len(points) // 3)]:
        direction = w / np.linalg.norm(w)
        for row in (length * direction, 30.0 * length * direction, -0.3 * length * rng.standard_normal(d)):
            weight = min(1.0, (length / np.linalg.norm(row)) ** 2)
            edge = statistic.clip / (weight * np.linalg.norm(row))
            for target in (1e9, -1e9, row @ w - 0.999 * edge, row @ w + 0.999 * edge, 0.0, 1.0):
                found.append((row, target))
        found += [(sign * size * length * direction, 1.0) for sign in (-1.0, 1.0) for size in (1.0, 1e3)]
    return found
