"""Zhao et al. 2024, Theorems 5 and 7: iterative updating of a mean of noisy groups.

Both rest on Theorem 6, privacy amplification by shuffling the groups, and that is false: a group's noisy mean is close
to itself when one of its records changes, not to another group's, so the groups do not hide each other. What holds is
the guarantee of one group, since groups are disjoint; `disjoint_mean` has the price.
"""

import math
from functools import partial

from tailguard._validate import real
from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = ["RATES", "disjoint_mean", "iterated_mean", "iterated_radius", "iterated_risk"]


def iterated_radius(setting: Setting) -> float:
    """Return R = M·√d·(nε/√d)^(1/p) of Theorem 7, with M put back."""
    _check(setting, "iterated_radius")
    root = math.sqrt(setting.d)
    return float(setting.bound * root * (setting.n * setting.epsilon / root) ** (1.0 / setting.order))


def iterated_mean(setting: Setting, radius: float | None = None) -> float:
    """Return the rate of Theorem 5, (21).

    M√(D/n) + d^(p/2)·M^p·R^(1−p) + R√D/(nε)·(ln(1/δ) + √(ln(1/δ)·ln ln(1/β))) with D = d + ln(1/β), β = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 2, bound, failure. Hidden constants are 1; ln ln(1/β) is at least 0.
    radius : float or None
        R; None takes `iterated_radius`.

    Returns
    -------
    float
        An ℓ2 error that Algorithm 3 would exceed with probability at most `failure`, if Theorem 6 were true.
    """
    _check(setting, "iterated_mean")
    R = iterated_radius(setting) if radius is None else real("radius", radius, "iterated_mean", above=0.0)
    log = math.log(1.0 / setting.delta)
    hidden = log + math.sqrt(log * max(0.0, math.log(math.log(1.0 / setting.failure))))
    noise = R * math.sqrt(_size(setting)) * hidden / (setting.n * setting.epsilon)
    return _sampling(setting) + _bias(setting, R) + noise


def disjoint_mean(setting: Setting, radius: float | None = None) -> float:
    """Return (31) with the privacy that holds: every group has the noise for ρ of (15).

    M√(D/n) + d^(p/2)·M^p·R^(1−p) + R/n·√(k/ρ)·√D with D = d + ln(1/β) and k = 800 ln(1/β) groups, β = failure.

    Parameters
    ----------
    setting : Setting
        As in `iterated_mean`.
    radius : float or None
        R; None takes the minimiser.

    Returns
    -------
    float
        An ℓ2 error that Algorithm 3 exceeds with probability at most `failure`, up to a constant.

    Notes
    -----
    Against Theorem 5 the noise grows by √k. In a descent the union bound needs ln(1/β) of the order of d·ln n, so that
    √k costs a factor √d and Theorem 7 is lost.
    """
    _check(setting, "disjoint_mean")
    groups = 800.0 * math.log(1.0 / setting.failure)
    slope = math.sqrt(groups / setting.rho * _size(setting)) / setting.n
    R = _balance(setting, slope) if radius is None else real("radius", radius, "disjoint_mean", above=0.0)
    return _sampling(setting) + _bias(setting, R) + R * slope


def iterated_risk(setting: Setting) -> float:
    """Return the rate of Theorem 7, (36): L·M·(√(d/n) + √d·(√d/(nε))^κ·ln(1/δ)·ln(nd)).

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 2, bound, diameter. Hidden constants are 1; λL is of the order of M.

    Returns
    -------
    float
        Expected excess risk of Algorithm 1 with Algorithm 3 as gradient, if Theorem 6 were true.

    Notes
    -----
    Further gaps. (35) forgets to square the bracket of (33), (34) drops a logarithm of n, and the last step of (107)
    drops ln(1/δ) beside ln n, which needs δ ≥ 1/poly(n).
    """
    _check(setting, "iterated_risk")
    n, d = setting.n, setting.d
    logs = math.log(1.0 / setting.delta) * math.log(n * d)
    factor = math.sqrt(1.0 / n) + setting.private(math.sqrt(d)) * logs
    return float(setting.diameter * setting.bound * math.sqrt(d) * factor)


def _check(setting: Setting, owner: str) -> None:
    setting.check(owner, least_order=2.0, most_epsilon=1.0, approximate=True)


def _size(setting: Setting) -> float:
    return setting.d + math.log(1.0 / setting.failure)


def _sampling(setting: Setting) -> float:
    return setting.bound * math.sqrt(_size(setting) / setting.n)


def _bias(setting: Setting, R: float) -> float:
    scale = setting.bound * math.sqrt(setting.d)
    return float(scale * (scale / R) ** (setting.order - 1.0))


def _balance(setting: Setting, slope: float) -> float:
    """Return the minimiser of _bias(R) + slope·R."""
    scale = setting.bound * math.sqrt(setting.d)
    return float(scale * ((setting.order - 1.0) / slope) ** (1.0 / setting.order))


_FALSE = "Rests on Theorem 6 (amplification by shuffling groups), which is false."
_rate = partial(
    Rate,
    kind="upper",
    privacy="approximate",
    moment="direction",
    orders=(2.0, math.inf),
    explicit=False,
    exponent_n=MINUS_KAPPA,
    exponent_d=Exponent(HALF, HALF),
    exponent_epsilon=MINUS_KAPPA,
    exponent_sampling=Exponent(-HALF),
)

RATES = (
    _rate(
        name="iterated mean",
        paper="Zhao et al. 2024",
        statement="Theorem 5, (21)",
        task="mean",
        formula="M√(D/n) + (M√d)^p·R^(1−p) + R√D/(nε)·(ln(1/δ) + √(ln(1/δ)·ln ln(1/β))), D = d + ln(1/β)",
        function=iterated_mean,
        caveat=_FALSE,
    ),
    _rate(
        name="iterated mean, disjoint groups",
        paper="tailguard, after Zhao et al. 2024",
        statement="(31) with (15)",
        task="mean",
        formula="M√(D/n) + (M√d)^p·R^(1−p) + R√(800·ln(1/β)·D/ρ)/n, D = d + ln(1/β)",
        function=disjoint_mean,
    ),
    _rate(
        name="iterated updating, convex",
        paper="Zhao et al. 2024",
        statement="Theorem 7, (36)",
        task="convex",
        formula="L·M·(√(d/n) + √d·(√d/(nε))^κ·ln(1/δ)·ln(nd))",
        function=iterated_risk,
        caveat=_FALSE,
    ),
)
