"""Tao et al. 2022, Theorems 1, 3 and 4: errors of truncated means, of medians of means, and of plain means.

Throughout p = 1 + v is in (1, 2], u = M^p and κ = v/(1+v) = 1 − 1/p.
"""

import math
from functools import partial

from tailguard._validate import real, refuse
from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = [
    "RATES",
    "best_threshold",
    "empirical_mean",
    "empirical_mean_failure",
    "median_of_means",
    "truncated_mean",
    "truncated_mean_at",
    "truncation_threshold",
]


def truncation_threshold(setting: Setting) -> float:
    """Return B = (u·n·ε/(ln(1/ξ)√ln(1.25/δ)))^(1/(1+v)) of Algorithm 1, with ξ = failure/3.

    Parameters
    ----------
    setting : Setting
        Uses n, epsilon ≤ 1, delta, order ≤ 2, bound, failure; d = 1.

    Returns
    -------
    float
        The threshold beyond which Algorithm 1 replaces values by 0.
    """
    setting.check("truncation_threshold", greatest_order=2.0, most_epsilon=1.0, approximate=True, scalar=True)
    return float(setting.bound * _trade(setting) ** (-1.0 / setting.order))


def truncated_mean(setting: Setting) -> float:
    """Return Theorem 1 with its constant, (10): 9·M·(ln(1/ξ)√ln(1.25/δ)/(nε))^κ, ξ = failure/3.

    Parameters
    ----------
    setting : Setting
        Uses n, epsilon ≤ 1, delta ≤ 1.25/e, order ≤ 2, bound, failure; d = 1.

    Returns
    -------
    float
        An error that Algorithm 1 exceeds with probability at most `failure`.

    Notes
    -----
    *Accuracy.* Assumes E|x|^p ≤ M^p. The constant is proved: the terms of (4) at the theorem's B are
    √2·√(ε/√ln(1.25/δ)), 2/3·ε/√ln(1.25/δ), 1 and 4√2/√ln(1/ξ) times the rate, at most 8.74 together.

    Corrections. (i) The proof fails with probability 3ξ, the theorem says ξ. (ii) A truncated value deviates from its
    mean by up to 2B, not B, which doubles the second term of (5) and (7); and Bernstein's inequality is one-sided. Both
    are covered: 9 still suffices, and a Gaussian exceeds 4√2·… with probability ξ², not 2ξ. (iii) "For any ε, δ ≤ 1" is
    too much: the first step of (6) needs ε ≤ √ln(1.25/δ), hence δ ≤ 1.25/e at ε = 1. (iv) The right side of (9) has the
    exponent 1/(1+v) where v/(1+v) is meant, and (8) has 2/ξ for 1/ξ. (v) Lemma 10 is true, since |x| ≤ |x|^p/B^v beyond
    B, but the fourth line of its proof drops B·P(|x| > B).
    """
    setting.check("truncated_mean", greatest_order=2.0, most_epsilon=1.0, approximate=True, scalar=True)
    return 9.0 * setting.bound * float(_trade(setting) ** setting.power)


def truncated_mean_at(setting: Setting, threshold: float) -> float:
    """Return the four terms of (4), repaired, at any threshold B.

    √(2·B^(1−v)·u·ln(1/ξ)/n) + 2B·ln(1/ξ)/(3n) + u/B^v + 4√2·B·√(ln(1.25/δ)·ln(1/ξ))/(nε), with ξ = failure/3.

    Parameters
    ----------
    setting : Setting
        As in `truncated_mean`.
    threshold : float
        B > 0.

    Returns
    -------
    float
        An error that Algorithm 1 with this threshold exceeds with probability at most `failure`.
    """
    setting.check("truncated_mean_at", greatest_order=2.0, most_epsilon=1.0, approximate=True, scalar=True)
    B = real("threshold", threshold, "truncated_mean_at", above=0.0)
    n, p, u, log = setting.n, setting.order, setting.bound**setting.order, math.log(3.0 / setting.failure)
    sampling = math.sqrt(2.0 * B ** (2.0 - p) * u * log / n) + 2.0 * B * log / (3.0 * n)
    noise = 4.0 * math.sqrt(2.0) * B * math.sqrt(math.log(1.25 / setting.delta) * log) / (n * setting.epsilon)
    return float(sampling + u * B ** (1.0 - p) + noise)


def best_threshold(setting: Setting) -> float:
    """Return the τ at which the bound of Theorem 3 is smallest: (v·u·√d/b)^(1/(1+v)), where b·τ is its noise term.

    The theorem leaves τ free. Up to logarithms this is τ = (u·ε·n/√d)^(1/(1+v)) of Corollary 1.
    """
    setting.check("best_threshold", greatest_order=2.0, most_epsilon=1.0, approximate=True)
    ratio = math.sqrt(setting.d) * (setting.order - 1.0) / _median_noise(setting)
    return float(setting.bound * ratio ** (1.0 / setting.order))


def median_of_means(setting: Setting, threshold: float | None = None) -> float:
    """Return Theorem 3 with the constants of its proof, (13) to (17).

    √d·((80u)^(1/(1+v))·g^(−κ) + u/τ^v) + 2σ(√d + √ln(1/ξ)) with m = ⌈4 ln(2d/ξ)⌉ groups of at least g = ⌊n/m⌋
    records and σ = 2√2·τ·√d·√ln(1.25/δ)/(ε·g), ξ = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≤ 2, bound, failure.
    threshold : float or None
        τ; None takes `best_threshold`.

    Returns
    -------
    float
        An ℓ2 error that Algorithm 3 exceeds with probability at most `failure`.

    Notes
    -----
    *Accuracy.* Assumes E|x_j|^p ≤ M^p for every coordinate; the bound on ‖μ‖ is not used. Groups are whole, so g
    replaces the paper's n/m. At the best τ the leading terms are M√d·n^(−κ) and M√d·(√d/(nε))^κ, up to logarithms: the
    lower bound of Lemma 21.

    Corrections. (15) bounds the probability of the good event by e^(−m/4) where the bad one is meant; Hoeffding gives
    e^(−0.32m) for it. (17) holds for ξ ≤ 0.99.
    """
    tau = best_threshold(setting) if threshold is None else real("threshold", threshold, "median_of_means", above=0.0)
    setting.check("median_of_means", greatest_order=2.0, most_epsilon=1.0, approximate=True)
    p, u = setting.order, setting.bound**setting.order
    sampling = setting.bound * 80.0 ** (1.0 / p) * _group(setting) ** -setting.power
    return float(math.sqrt(setting.d) * (sampling + u * tau ** (1.0 - p)) + tau * _median_noise(setting))


def empirical_mean_failure(setting: Setting, deviation: float) -> float:
    """Return Theorem 4: P(|x̄ − μ| ≥ t) ≤ 8u/(n^v·t^(1+v)), at most 1.

    Parameters
    ----------
    setting : Setting
        Uses n, order ≤ 2, bound; d = 1.
    deviation : float
        t > 0.
    """
    setting.check("empirical_mean_failure", greatest_order=2.0, scalar=True)
    t = real("deviation", deviation, "empirical_mean_failure", above=0.0)
    return float(min(1.0, 8.0 * (setting.bound / t) ** setting.order * setting.n ** (1.0 - setting.order)))


def empirical_mean(setting: Setting) -> float:
    """Return Theorem 4 solved for the deviation: M·(8/failure)^(1/(1+v))·n^(−κ). Not private.

    Parameters
    ----------
    setting : Setting
        Uses n, order ≤ 2, bound, failure; d = 1.

    Returns
    -------
    float
        An error that the plain mean exceeds with probability at most `failure`, the only bound here that is
        polynomial in 1/failure.
    """
    setting.check("empirical_mean", greatest_order=2.0, scalar=True)
    return float(setting.bound * (8.0 / setting.failure) ** (1.0 / setting.order) * setting.n**-setting.power)


def _trade(setting: Setting) -> float:
    """Return ln(1/ξ)√ln(1.25/δ)/(nε), ξ = failure/3."""
    strength = math.log(3.0 / setting.failure) * math.sqrt(math.log(1.25 / setting.delta))
    return strength / (setting.n * setting.epsilon)


def _group(setting: Setting) -> int:
    groups = math.ceil(4.0 * math.log(2.0 * setting.d / setting.failure))
    if setting.n < groups:
        raise refuse("n", "median_of_means", f"at least {groups}, the number of groups", setting.n)
    return setting.n // groups


def _median_noise(setting: Setting) -> float:
    """Return the noise term of Theorem 3 for τ = 1."""
    root = math.sqrt(setting.d)
    sigma = 2.0 * math.sqrt(2.0 * math.log(1.25 / setting.delta)) * root / (setting.epsilon * _group(setting))
    return 2.0 * sigma * (root + math.sqrt(math.log(1.0 / setting.failure)))


_rate = partial(
    Rate,
    paper="Tao et al. 2022",
    kind="upper",
    task="mean",
    moment="coordinate",
    orders=(1.0, 2.0),
    explicit=True,
    exponent_n=MINUS_KAPPA,
)

RATES = (
    _rate(
        name="truncated mean",
        statement="Theorem 1, (10)",
        privacy="approximate",
        formula="9·M·(ln(3/β)·√ln(1.25/δ)/(nε))^κ",
        function=truncated_mean,
        exponent_d=None,
        exponent_epsilon=MINUS_KAPPA,
        caveat="Holds with probability 1 − 3ξ, not 1 − ξ (β = 3ξ here), and for ε ≤ √ln(1.25/δ).",
    ),
    _rate(
        name="median of means",
        statement="Theorem 3, (13) to (17)",
        privacy="approximate",
        formula="√d·M·(80^(1/p)·g^(−κ) + (M/τ)^(p−1)) + 2σ(√d + √ln(1/β))",
        function=median_of_means,
        exponent_d=Exponent(HALF, HALF),
        exponent_epsilon=MINUS_KAPPA,
        exponent_sampling=MINUS_KAPPA,
    ),
    _rate(
        name="plain mean",
        statement="Theorem 4",
        privacy="none",
        formula="M·(8/β)^(1/p)·n^(−κ)",
        function=empirical_mean,
        exponent_d=None,
        exponent_epsilon=Exponent(),
        exponent_sampling=MINUS_KAPPA,
    ),
)
