"""Measures of a fit on fresh records, and relative to the truth. Every error is relative to the null model's."""

import numpy as np
from scipy.special import expit, xlogy
from scipy.stats import rankdata

from benchmarks.objective import Vector

__all__ = [
    "auc",
    "classification",
    "coefficient_error",
    "excess_log_loss",
    "least_log_loss",
    "log_loss",
    "recall",
    "regression",
]

TRIM = 0.05


def regression(predictions: Vector, y: Vector, centre: float) -> dict[str, float]:
    """Return R², and the median and trimmed errors ÷ those of the constant `centre`.

    The trimmed error is the mean of all squared residuals but the largest 5 %: with a heavy tail a few records decide
    R², and what a model does for the others is seen here.
    """
    with np.errstate(all="ignore"):
        squares = (y - predictions) ** 2
        null = (y - centre) ** 2
        return {
            "r2": float(1.0 - np.mean(squares) / np.mean(null)),
            "median_error": float(np.sqrt(np.median(squares) / np.median(null))),
            "trimmed_error": float(_trimmed(squares) / _trimmed(null)),
        }


def _trimmed(squares: Vector) -> float:
    return float(np.sort(squares)[: int(np.ceil((1.0 - TRIM) * len(squares)))].mean())


def classification(odds: Vector, y: Vector) -> dict[str, float]:
    """Return the area under the ROC curve and the share of wrong labels."""
    return {"auc": auc(odds, y), "wrong": float(np.mean((odds > 0.0) != (y > 0.5)))}


def auc(scores: Vector, labels: Vector) -> float:
    """Return the probability that a positive scores above a negative, ties counted half."""
    positive = labels > 0.5
    count = int(positive.sum())
    if count in (0, len(labels)) or not np.all(np.isfinite(scores)):
        return 0.5
    ranks = rankdata(scores)
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * (len(labels) - count)))


def log_loss(odds: Vector, probability: Vector) -> float:
    """Return the expected log loss of log-odds where a label is 1 with that probability (a label itself will do)."""
    with np.errstate(all="ignore"):
        return float(np.mean(np.logaddexp(0.0, odds) - probability * odds))


def least_log_loss(probability: Vector) -> float:
    """Return the log loss of the truth: the entropy of the labels."""
    return float(-np.mean(xlogy(probability, probability) + xlogy(1.0 - probability, 1.0 - probability)))


def excess_log_loss(odds: Vector, true_odds: Vector) -> float:
    """Return the excess log loss over the truth's ÷ that of the best constant."""
    probability = expit(true_odds)
    share = probability.mean()
    best = least_log_loss(probability)
    null = log_loss(np.log(share / (1.0 - share)), probability)
    return (log_loss(odds, probability) - best) / (null - best)


def coefficient_error(found: Vector, truth: Vector, deviations: Vector) -> float:
    """Return the ℓ2 error of coefficients of standardised columns ÷ their norm."""
    with np.errstate(all="ignore"):
        return float(np.linalg.norm((found - truth) * deviations) / np.linalg.norm(truth * deviations))


def recall(found: Vector, truth: Vector) -> float:
    """Return the share of the true support among the largest coefficients, as many as are truly non-zero."""
    support = np.flatnonzero(truth)
    largest = np.argsort(-np.abs(np.nan_to_num(found)), kind="stable")[: len(support)]
    return float(np.isin(support, largest[found[largest] != 0.0]).mean())
