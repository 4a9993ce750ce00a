"""Zhao et al. 2024, Table I and Theorem 1: earlier rates for convex losses, and the lower bound they are compared to.

As in the paper logarithms are left out. The rows of the paper's own methods are `clipped_risk` and `iterated_risk`.
"""

import math
from fractions import Fraction
from functools import partial

from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = ["RATES", "kamath_quadratic_risk", "kamath_risk", "risk_lower", "wang_risk"]


def risk_lower(setting: Setting) -> float:
    """Return Theorem 1 as Table I has it: L·M·(√(d/n) + √d·min(1, √d/(nε))^κ).

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, diameter. The hidden constant is 1.

    Returns
    -------
    float
        Expected excess risk that no private algorithm beats on every λ-smooth risk.

    Notes
    -----
    *What holds.* The bound is Theorem 6.4 of Kamath et al. 2022, for moments of *coordinates*.

    Corrections. (i) The paper states it for moments of every *direction*, (4), and there it does not hold. The packing
    behind it has x = τθ with a θ of d/2 ones, whose moment along θ is (d/2)^(p/2)·M^p. And clipping does better on
    every loss that is smooth in each record, linear ones included: `sharp_clipped_risk` is smaller by d^(1/(2p))
    along n = d³, ε = 1/d, where it is the private term that counts. (ii) (6) has a factor ln(1/δ) outside the power
    that Table I has not; it contradicts (20), whose ln(1/δ) is inside and under a root, for δ → 0.
    """
    setting.check("risk_lower", least_order=2.0)
    private = min(1.0, setting.private(math.sqrt(setting.d)))
    factor = math.sqrt(1.0 / setting.n) + private
    return float(setting.diameter * setting.bound * math.sqrt(setting.d) * factor)


def wang_risk(setting: Setting) -> float:
    """Return the first row, Wang et al. 2020 as corrected by Kamath et al. 2022: L·M·(d³/(ε²n))^(1/3).

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, diameter. Needs second moments only and does not profit from more.
    """
    setting.check("wang_risk", least_order=2.0)
    return float(setting.diameter * setting.bound * setting.d / (setting.epsilon**2 * setting.n) ** (1.0 / 3.0))


def kamath_risk(setting: Setting) -> float:
    """Return the second row, Kamath et al. 2022: L·M·(d/√n + √d·(d^(3/2)/(nε))^κ).

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, diameter. Hidden constants are 1.
    """
    setting.check("kamath_risk", least_order=2.0)
    factor = setting.d / math.sqrt(setting.n) + math.sqrt(setting.d) * setting.private(setting.d**1.5)
    return setting.diameter * setting.bound * factor


def kamath_quadratic_risk(setting: Setting) -> float:
    """Return the third row, Kamath et al. 2022: L·M·min over q in [1/2, 2] of (d^((3−q)/2) + d^((1+q)/2)/√ε)/√n.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, diameter. Needs second moments only. Hidden constants are 1.

    Notes
    -----
    The sum is convex in q, with its minimum at d^q = d√ε, that is q = 1 + ln ε/(2 ln d), moved into [1/2, 2].
    """
    setting.check("kamath_quadratic_risk", least_order=2.0)
    d, epsilon = float(setting.d), setting.epsilon
    q = 1.0 if setting.d == 1 else min(2.0, max(0.5, 1.0 + math.log(epsilon) / (2.0 * math.log(d))))
    factor = d ** ((3.0 - q) / 2.0) + d ** ((1.0 + q) / 2.0) / math.sqrt(epsilon)
    return float(setting.diameter * setting.bound * factor / math.sqrt(setting.n))


THIRD = Fraction(1, 3)

_rate = partial(
    Rate,
    task="convex",
    moment="coordinate",
    orders=(2.0, math.inf),
    explicit=False,
)

RATES = (
    _rate(
        name="convex, lower bound with sampling",
        paper="Zhao et al. 2024",
        statement="Theorem 1 and Table I",
        kind="lower",
        privacy="concentrated",
        formula="L·M·(√(d/n) + √d·(√d/(nε))^κ)",
        function=risk_lower,
        exponent_n=MINUS_KAPPA,
        exponent_d=Exponent(HALF, HALF),
        exponent_epsilon=MINUS_KAPPA,
        exponent_sampling=Exponent(-HALF),
        caveat="False for moments of directions, as stated; (6)'s factor ln(1/δ) contradicts (20).",
    ),
    _rate(
        name="smoothed gradients, convex",
        paper="Wang et al. 2020",
        statement="Zhao et al. 2024, Table I",
        kind="upper",
        privacy="approximate",
        formula="L·M·(d³/(ε²n))^(1/3)",
        function=wang_risk,
        exponent_n=Exponent(-THIRD),
        exponent_d=Exponent(1),
        exponent_epsilon=Exponent(-2 * THIRD),
    ),
    _rate(
        name="coordinatewise means, convex",
        paper="Kamath et al. 2022",
        statement="Zhao et al. 2024, Table I",
        kind="upper",
        privacy="approximate",
        formula="L·M·(d/√n + √d·(d^(3/2)/(nε))^κ)",
        function=kamath_risk,
        exponent_n=MINUS_KAPPA,
        exponent_d=Exponent(HALF, 3 * HALF),
        exponent_epsilon=MINUS_KAPPA,
        exponent_sampling=Exponent(-HALF),
    ),
    _rate(
        name="coordinatewise means, second moments, convex",
        paper="Kamath et al. 2022",
        statement="Zhao et al. 2024, Table I",
        kind="upper",
        privacy="approximate",
        formula="L·M·min over q of (d^((3−q)/2) + d^((1+q)/2)/√ε)/√n",
        function=kamath_quadratic_risk,
        exponent_n=Exponent(-HALF),
        exponent_d=Exponent(1),
        exponent_epsilon=Exponent(-HALF / 2),
    ),
)
