"""Zhao et al. 2024, Theorems 2 and 4: simple clipping, for means and as gradients of a descent.

The moment p ≥ 2 is that of every direction: E|⟨u, x⟩|^p ≤ M^p for all unit vectors u. Under this assumption the
clipping bias (55) is too large by a factor of up to √d, and with it R, (14) and (20): by Hölder's inequality

    ‖E[x − clip(x)]‖ ≤ sup_u E|⟨u, x⟩|·1{‖x‖ > R} ≤ M·P(‖x‖ > R)^κ ≤ M·(M√d/R)^(p−1),

where (55) has M√d/(p−1) in front. The functions `sharp_*` use the smaller of both. Their error (d/(n√ρ))^κ is below the
√d·(√d/(n√ρ))^κ of the paper, by d^(−1/(2p)), and hence below the paper's "lower bound" (`table.risk_lower`).
"""

import math
from functools import partial

from tailguard._validate import real
from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = [
    "RATES",
    "clip_radius",
    "clipped_mean",
    "clipped_risk",
    "sharp_clip_radius",
    "sharp_clipped_mean",
    "sharp_clipped_risk",
]


def clip_radius(setting: Setting) -> float:
    """Return R = M·√d·min((n√ρ/√d)^(1/p), (n/d)^(1/p)), (19) with M put back; ρ of (15).

    The paper has M = 1. Scaling the data by M scales R by M.
    """
    _check(setting, "clip_radius")
    root = math.sqrt(setting.d)
    reach = min(setting.n * math.sqrt(setting.rho) / root, setting.n / setting.d)
    return float(setting.bound * root * reach ** (1.0 / setting.order))


def sharp_clip_radius(setting: Setting) -> float:
    """Return R = M·√d·min(n√ρ/d, n/d^(3/2))^(1/p), which balances noise and sampling against the sharper bias."""
    _check(setting, "sharp_clip_radius")
    reach = min(setting.n * math.sqrt(setting.rho) / setting.d, setting.n / setting.d**1.5)
    return float(setting.bound * math.sqrt(setting.d) * reach ** (1.0 / setting.order))


def clipped_mean(setting: Setting, radius: float | None = None) -> float:
    """Return Theorem 2 with its constants, (14), for ρ of (15).

    max(√(12M²Λ/n), 8RΛ/n) + d^(p/2)·M^p·R^(1−p)/(p−1) + 4R√Λ/(n√ρ) with Λ = ln(2·6^d/β), β = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 2, bound, failure.
    radius : float or None
        R; None takes `clip_radius`, (19).

    Returns
    -------
    float
        An ℓ2 error that Algorithm 2 exceeds with probability at most `failure`.

    Notes
    -----
    The bound is proved as printed. In (47) the middle step, clipping moves ⟨u, x⟩ no further from ⟨u, μ⟩, is false
    for a single direction, but the end is right: E⟨u, y⟩² ≤ E⟨u, x⟩² ≤ M². In (50) the range of λ is n/(2R).
    """
    _check(setting, "clipped_mean")
    R = clip_radius(setting) if radius is None else real("radius", radius, "clipped_mean", above=0.0)
    return _spread(setting, R) + _norm_bias(setting, R)


def sharp_clipped_mean(setting: Setting, radius: float | None = None) -> float:
    """Return (14) with the sharper clipping bias M·(M√d/R)^(p−1) where that is smaller.

    Parameters
    ----------
    setting : Setting
        As in `clipped_mean`.
    radius : float or None
        R; None takes `sharp_clip_radius`.

    Returns
    -------
    float
        An ℓ2 error that Algorithm 2 exceeds with probability at most `failure`.
    """
    _check(setting, "sharp_clipped_mean")
    R = sharp_clip_radius(setting) if radius is None else real("radius", radius, "sharp_clipped_mean", above=0.0)
    tail = setting.bound * (setting.bound * math.sqrt(setting.d) / R) ** (setting.order - 1.0)
    return _spread(setting, R) + min(_norm_bias(setting, R), float(tail))


def clipped_risk(setting: Setting) -> float:
    """Return the rate of Theorem 4, (20): L·M·(√(d·ln n/n) + √d·(√(d·ln(1/δ))/(nε))^κ + d^(1/2+κ)·n^(−κ)·ln n).

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 2, bound, diameter. Hidden constants are 1.

    Returns
    -------
    float
        Expected excess risk of Algorithm 1 with Algorithm 2 as gradient.

    Notes
    -----
    The paper sets L, λ and M to 1. With all three put back and T = ρn²M²/(dR²), the factor is λL² + LM + M²/λ; here
    λL is taken to be of the order of M.

    Gap in the proof. (65) uses that every record's loss is λ-smooth; Assumption 1(b) says so of F only. In (63) M
    should be L, and the last term of (66) is 2λa.
    """
    _check(setting, "clipped_risk")
    n, d = setting.n, setting.d
    private = setting.private(math.sqrt(d * math.log(1.0 / setting.delta)))
    extra = (d / n) ** setting.power * math.log(n)
    sampling = math.sqrt(math.log(n) / n)
    return float(setting.diameter * setting.bound * math.sqrt(d) * (sampling + private + extra))


def sharp_clipped_risk(setting: Setting) -> float:
    """Return (20) with the sharper bias: L·M·(√(d·ln n/n) + (d√ln(1/δ)/(nε))^κ + (d^(3/2)/n)^κ·ln n).

    Parameters
    ----------
    setting : Setting
        As in `clipped_risk`.

    Returns
    -------
    float
        Expected excess risk of Algorithm 1 with Algorithm 2 as gradient and the radius `sharp_clip_radius`.
    """
    _check(setting, "sharp_clipped_risk")
    n, d = setting.n, setting.d
    private = setting.private(d * math.sqrt(math.log(1.0 / setting.delta)))
    extra = (d**1.5 / n) ** setting.power * math.log(n)
    return float(setting.diameter * setting.bound * (math.sqrt(d * math.log(n) / n) + private + extra))


def _check(setting: Setting, owner: str) -> None:
    setting.check(owner, least_order=2.0, most_epsilon=1.0, approximate=True)


def _spread(setting: Setting, R: float) -> float:
    """Return the sampling and noise terms of (14)."""
    n, M = setting.n, setting.bound
    log = setting.d * math.log(6.0) + math.log(2.0 / setting.failure)
    sampling = max(M * math.sqrt(12.0 * log / n), 8.0 * R * log / n)
    return sampling + 4.0 * R * math.sqrt(log / setting.rho) / n


def _norm_bias(setting: Setting, R: float) -> float:
    """Return (55)."""
    p, scale = setting.order, setting.bound * math.sqrt(setting.d)
    return float(scale * (scale / R) ** (p - 1.0) / (p - 1.0))


_rate = partial(
    Rate,
    kind="upper",
    privacy="approximate",
    moment="direction",
    orders=(2.0, math.inf),
    exponent_n=MINUS_KAPPA,
    exponent_epsilon=MINUS_KAPPA,
    exponent_sampling=Exponent(-HALF),
)

RATES = (
    _rate(
        name="clipped mean",
        paper="Zhao et al. 2024",
        statement="Theorem 2, (14)",
        task="mean",
        explicit=True,
        formula="max(M√(12Λ/n), 8RΛ/n) + (M√d)^p·R^(1−p)/(p−1) + 4R√Λ/(n√ρ), Λ = ln(2·6^d/β)",
        function=clipped_mean,
        exponent_d=Exponent(HALF, HALF),
    ),
    _rate(
        name="clipped mean, sharper bias",
        paper="tailguard, after Zhao et al. 2024",
        statement="Theorem 2 with Hölder's inequality",
        task="mean",
        explicit=True,
        formula="max(M√(12Λ/n), 8RΛ/n) + M·(M√d/R)^(p−1) + 4R√Λ/(n√ρ), Λ = ln(2·6^d/β)",
        function=sharp_clipped_mean,
        exponent_d=Exponent(0, 1),
    ),
    _rate(
        name="clipping, convex",
        paper="Zhao et al. 2024",
        statement="Theorem 4, (20)",
        task="convex",
        explicit=False,
        formula="L·M·(√(d·ln n/n) + √d·(√(d·ln(1/δ))/(nε))^κ + d^(1/2+κ)·n^(−κ)·ln n)",
        function=clipped_risk,
        exponent_d=Exponent(HALF, HALF),
        caveat="The proof needs every record's loss to be smooth.",
    ),
    _rate(
        name="clipping, convex, sharper bias",
        paper="tailguard, after Zhao et al. 2024",
        statement="Theorem 4 with Hölder's inequality",
        task="convex",
        explicit=False,
        formula="L·M·(√(d·ln n/n) + (d√ln(1/δ)/(nε))^κ + (d^(3/2)/n)^κ·ln n)",
        function=sharp_clipped_risk,
        exponent_d=Exponent(0, 1),
        caveat="The proof needs every record's loss to be smooth.",
    ),
)
