"""Tails without a second moment: means and regressions with Student t1.5, beside the sample mean and least squares.

t1.5 has moments of every order below 1.5. The recipes are told at most an order, 1.4, and no bound. A theorem for order
1.4 promises the exponent −κ = −0.4/1.4; it is an upper bound, and on one symmetric distribution the error may fall
faster.
"""

from functools import partial

import numpy as np

import tailguard as tg
from benchmarks.slope import Curve, sweep

SIZES = tuple(round(10**power) for power in (3.5, 4.0, 4.5, 5.0))
ORDER, FREEDOM, D = 1.4, 1.5, 5
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
HEADS = ["task", "fit", "theorem", "fitted", *(f"n = {n}" for n in SIZES), "falls, and below non-private"]
METHODS = ("truncated_mean", "clipping", "median_of_means")


def mean_error(method: str, n: int, seed: int) -> float:
    """Return |error| for the mean of 1 + t1.5."""
    X = 1.0 + np.random.default_rng([seed, n]).standard_t(FREEDOM, (n, 1))
    if method == "non-private":
        return float(abs(X.mean() - 1.0))
    model = tg.Mean(method=method, moment=tg.Moment(ORDER), random_state=seed, **BUDGET).fit(X)
    return float(abs(model.mean_[0] - 1.0))


def regression_error(features: str, method: str, n: int, seed: int) -> float:
    """Return the ℓ2 error of five coefficients, all 1/√5, under t1.5 noise; R² does not exist, as the variance."""
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((n, D)) if features == "gaussian" else rng.standard_t(3.0, (n, D))
    truth = np.full(D, 1.0 / np.sqrt(D))
    y = 10.0 + X @ truth + rng.standard_t(FREEDOM, n)
    if method == "non-private":
        coefficients = np.linalg.lstsq(np.column_stack([X, np.ones(n)]), y)[0][:-1]
    else:
        coefficients = tg.LinearRegression(method=method, random_state=seed, **BUDGET).fit(X, y).coef_
    return float(np.linalg.norm(coefficients - truth))


def measure() -> list[tuple[str, Curve]]:
    """Return the curves by name; the non-private one of a task comes first."""
    found = [
        (f"mean: {method}", sweep(partial(mean_error, method), SIZES, seeds))
        for method, seeds in (("non-private", 400), ("truncated_mean", 60))
    ]
    for features in ("gaussian", "t3"):
        for method in ("non-private", *METHODS):
            error = partial(regression_error, features, method)
            seeds = 60 if method == "non-private" else 24
            found.append((f"linear, {features} features: {method}", sweep(error, SIZES, seeds)))
    return found


def rows(curves: list[tuple[str, Curve]]) -> list[list[str]]:
    plain = {name.split(": ")[0]: curve.medians[-1] for name, curve in curves if "non-private" in name}
    out = []
    for name, curve in curves:
        task, fit = name.split(": ")
        falls = bool(np.all(np.diff(curve.medians) < 0.0)) and curve.medians[-1] < plain[task]
        verdict = "–" if fit == "non-private" else "yes" if falls else "no"
        fitted = f"{curve.slope:.3f} ± {curve.standard_error:.3f}"
        medians = [f"{median:.3g}" for median in curve.medians]
        out.append([task, fit, f"{1.0 / ORDER - 1.0:.3f}", fitted, *medians, verdict])
    return out
