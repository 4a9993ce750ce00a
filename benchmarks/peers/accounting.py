"""What a peer really spent, recomputed here from what it did, never taken from its own ledger.

Neighbours are data sets of n records that differ in one (replace-one), unless a function says otherwise. Numbers
that a peer was told (bounds, norms) count as public here: `Solver.knows` says that they were not.
"""

from functools import lru_cache

import dp_accounting
import numpy as np
from dp_accounting import pld
from numpy.typing import ArrayLike

__all__ = [
    "chaudhuri_noise",
    "full_batch_multiplier",
    "functional_epsilon",
    "gaussian_means_epsilon",
    "laplace_means_epsilon",
    "noisy_gradients_epsilon",
    "objective_perturbation_epsilon",
    "theil_sen_epsilon",
]


@lru_cache(maxsize=256)
def full_batch_multiplier(epsilon: float, delta: float, steps: int) -> float:
    """Return noise ÷ clip norm of full-batch gradient descent for replace-one neighbours.

    A replaced record moves a sum of clipped gradients by up to twice the clip norm; `steps` Gaussian releases are one
    with √steps times the sensitivity.
    """
    return float(2.0 * np.sqrt(steps) * dp_accounting.get_sigma_gaussian(epsilon, delta))


@lru_cache(maxsize=256)
def noisy_gradients_epsilon(multiplier: float, rate: float, steps: int, delta: float, relation: str) -> float:
    """Return ε of `steps` noisy sums of gradients; `multiplier` is noise ÷ clip norm, `rate` Poisson's (1: all).

    Subsampling is accounted for in the add-or-remove relation only, by the privacy loss distribution. For replace-one
    neighbours all records take part in each step, where the closed form of the Gaussian mechanism is exact.
    """
    if relation == "replace-one":
        if rate != 1.0:
            raise ValueError("Subsampled gradients are accounted for in the add-or-remove relation only.")
        return float(dp_accounting.get_epsilon_gaussian(multiplier / (2.0 * np.sqrt(steps)), delta))
    if rate == 1.0:
        return float(dp_accounting.get_epsilon_gaussian(multiplier / np.sqrt(steps), delta))
    step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))
    accountant = pld.PLDAccountant(dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE)
    return float(accountant.compose(dp_accounting.SelfComposedDpEvent(step, steps)).get_epsilon(delta))


def functional_epsilon(epsilon: float, rows: ArrayLike, target: ArrayLike, intercept: bool) -> float:
    """Return ε of diffprivlib 0.6.6's LinearRegression, by composition over its Laplace releases.

    Two faults are counted. With an intercept it spends ε/(d + 1) on the means of the features and as much again on the
    target's, but takes ε/(d + 1) once from the rest. And the noise of Σx² is scaled by the *lower* bound squared, so it
    is too small, or nothing, wherever the upper bound is further from zero.

    Parameters
    ----------
    epsilon : float
        What was asked.
    rows, target : arrays of shape (2, d) and (2,)
        Lower and upper bounds, less the released means that the library subtracts.
    intercept : bool
        Whether it was asked to fit one.
    """
    low, high = np.asarray(rows, dtype=float)
    count = low.size
    share = epsilon / (count + 1) if intercept else 0.0
    local = (epsilon - share) / (1 + count + count * (count + 1) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        diagonal = np.nan_to_num(_square_range(low, high) / low**2, nan=0.0, posinf=np.inf)
    below, above = np.asarray(target, dtype=float)
    squared = _square_range(below, above) / max(abs(below), abs(above)) ** 2
    crossed = count + count * (count - 1) / 2  # Σxy and Σxx' get the right noise
    return float(2.0 * share + local * (crossed + float(squared) + float(diagonal.sum())))


def _square_range(low: ArrayLike, high: ArrayLike) -> np.ndarray:
    """Return how far x² moves when x moves within its bounds."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    ends = np.maximum(low**2, high**2)
    return ends - np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(low**2, high**2))


def chaudhuri_noise(epsilon: float, norm: float, ridge: float) -> tuple[float, float]:
    """Return (ε of the linear noise, ridge that is added, summed over records) as diffprivlib 0.6.6 chooses them."""
    left = epsilon - 2.0 * np.log(1.0 + 0.25 * norm / ridge)
    if left > 0.0:
        return float(left), 0.0
    return epsilon / 2.0, float(0.25 * norm / np.expm1(epsilon / 4.0) - ridge)


def objective_perturbation_epsilon(epsilon: float, norm: float, ridge: float, intercept: bool) -> float:
    """Return ε of diffprivlib 0.6.6's LogisticRegression: linear noise plus the change of the determinant.

    The library follows Chaudhuri et al. 2011, who assume rows of norm at most 1. A logistic record's Hessian is at most
    ‖x‖²/4; the library puts ‖x‖/4 into the formula, and does not regularise the intercept where it adds no ridge of
    its own. Replacing a record changes the determinant by at most 1 + x'A⁻¹x/4, A the regulariser alone.

    Parameters
    ----------
    epsilon : float
        What was asked.
    norm : float
        `data_norm`, the bound on the rows without the intercept's column.
    ridge : float
        1/C: the penalty, summed over records.
    intercept : bool
        Whether it was asked to fit one.
    """
    whole = np.hypot(norm, 1.0) if intercept else norm
    linear, added = chaudhuri_noise(epsilon, float(whole), ridge)
    curvature = norm**2 / (ridge + added)
    if intercept:
        curvature += 1.0 / added if added > 0.0 else np.inf
    return float(linear + np.log1p(0.25 * curvature))


def laplace_means_epsilon(widths: ArrayLike, records: int, scales: ArrayLike) -> float:
    """Return ε of one Laplace release a column of a mean whose values lie within bounds of these widths."""
    return float(np.sum(np.asarray(widths, dtype=float) / (records * np.asarray(scales, dtype=float))))


def gaussian_means_epsilon(widths: ArrayLike, records: int, scales: ArrayLike, delta: float) -> float:
    """Return ε of one Gaussian release a column of a mean whose values lie within bounds of these widths."""
    mu = np.linalg.norm(np.asarray(widths, dtype=float) / (records * np.asarray(scales, dtype=float)))
    return float(dp_accounting.get_epsilon_gaussian(1.0 / float(mu), delta))


def theil_sen_epsilon(scale: float, runs: int = 1) -> float:
    """Return ε of OpenDP's Theil–Sen fit for replace-one neighbours.

    A replaced record changes one matched pair a run: one prediction leaves, another enters, and each moves the score
    of a median (sensitivity ½) by ½; report-noisy-max with exponential noise costs twice that over its scale. There are
    two medians. (Its own map for *adding* a record is too small: the rows before an odd last one are matched anew, so
    up to three predictions change, not one.)
    """
    return 2.0 * 2.0 * runs / scale
