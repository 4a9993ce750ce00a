"""Hu et al. 2022, Theorem 5: least squares over an ℓ1 ball with shrunken data (Algorithm 2).

Every entry of x and y is clamped to ±K, then Frank–Wolfe runs on the whole data. With M⁴ a bound of the fourth moments
of x_j and y (the paper's M), D = ‖W‖₁ ≥ 1 and G = √ln(1/δ)·ln(dn/ζ), the proof ends at optimisation, noise and bias:

    α·D²/T + D·K²·√T·G/(nε) + D²·M⁴/K².

Corrections. (i) The paper's K = (nε)^(1/4)/T^(1/8) has no M and is not homogeneous; with M in front every term scales
with the data as the risk does. K leaves out the logarithms G, which costs √G. (ii) (43) has λ_max where (9), and the
derivation, have λ_max^(1/5). (iii) In our text of (9) the root covers the product ln(1/δ)·ln(dn/ζ); Lemma 1 and the
budget ε/(2√(2T·ln(1/δ))) of a step give √ln(1/δ)·ln(dn/ζ). (iv) (38) has √M/K² where its own step gives M/K². (v) The
proof takes t = ζ/d³ for ln(d³/ζ). (vi) The abstract's exponent 5/8 of nε is 2/5 in the theorem. (vii) Theorem 4 says
"Algorithm 1" for Algorithm 2, and its proof uses ‖w‖₁ ≤ 1: on a ball of radius r the sensitivity of the scores is
4r(r + 1)K²/n, which exceeds the printed 8‖W‖₁K²/n as soon as r + 1 > 4 (‖W‖₁ = 2r).
"""

import math
from fractions import Fraction

from tailguard._validate import integer, real
from tailguard.theory.rate import Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = ["RATES", "shrunken_lasso_risk", "shrunken_lasso_steps", "shrunken_lasso_threshold"]


def shrunken_lasso_steps(setting: Setting) -> int:
    """Return T = (√(nε)·α/(M²·√ln(1/δ)·ln(d/ζ)))^(4/5) of Theorem 5, rounded down; at least 1, at most n.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 4, bound, failure ζ, smoothness α = λ_max(E xxᵀ).
    """
    _check(setting, "shrunken_lasso_steps")
    logs = _budget(setting) * math.log(setting.d / setting.failure)
    ratio = math.sqrt(setting.n * setting.epsilon) * setting.smoothness / (setting.bound**2 * logs)
    return min(setting.n, max(1, math.floor(math.pow(ratio, 0.8))))


def shrunken_lasso_threshold(setting: Setting, steps: int | None = None) -> float:
    """Return K = M·(nε)^(1/4)/T^(1/8) of Theorem 5.

    Parameters
    ----------
    setting : Setting
        As in `shrunken_lasso_steps`.
    steps : int or None
        T; None takes `shrunken_lasso_steps`.
    """
    T = shrunken_lasso_steps(setting) if steps is None else integer("steps", steps, "shrunken_lasso_threshold")
    _check(setting, "shrunken_lasso_threshold")
    return float(setting.bound * (setting.n * setting.epsilon) ** 0.25 / T**0.125)


def shrunken_lasso_risk(setting: Setting) -> float:
    """Return the rate of Theorem 5, (9): D²·α^(1/5)·(M²·√ln(1/δ)·ln(dn/ζ))^(4/5)/(nε)^(2/5), ζ = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 4, bound, failure, diameter ≥ 1 (of the ℓ1 norm), smoothness. The
        moment is that of the coordinates of x and of y. The hidden constant is 1.

    Returns
    -------
    float
        An excess risk that Algorithm 2 exceeds with probability at most `failure`.

    Notes
    -----
    *Accuracy.* Assumption 3: E(x_j·x_k)² ≤ M⁴ and E y⁴ ≤ M⁴, which fourth moments of the coordinates imply. The step
    from (41) to (42) drops D for a unit ball; D² covers its three terms for D ≥ 1.
    """
    _check(setting, "shrunken_lasso_risk")
    D = real("diameter", setting.diameter, "shrunken_lasso_risk", at_least=1.0)
    logs = _budget(setting) * (math.log(setting.d) + math.log(setting.n) - math.log(setting.failure))
    factor = setting.smoothness**0.2 * (setting.bound**2 * logs) ** 0.8
    return float(D**2 * factor / (setting.n * setting.epsilon) ** 0.4)


def _check(setting: Setting, owner: str) -> None:
    setting.check(owner, least_order=4.0, most_epsilon=1.0, approximate=True)


def _budget(setting: Setting) -> float:
    return math.sqrt(math.log(1.0 / setting.delta))


_MINUS = Exponent(Fraction(-2, 5))

RATES = (
    Rate(
        name="shrunken least squares",
        paper="Hu et al. 2022",
        statement="Theorem 5, (9)",
        kind="upper",
        task="polytope",
        privacy="approximate",
        moment="data",
        orders=(4.0, math.inf),
        explicit=False,
        formula="D²·α^(1/5)·(M²·√ln(1/δ)·ln(dn/β))^(4/5)/(nε)^(2/5)",
        function=shrunken_lasso_risk,
        exponent_n=_MINUS,
        exponent_d=Exponent(),
        exponent_epsilon=_MINUS,
        caveat="(43) has λ_max for λ_max^(1/5), the abstract the exponent 5/8; the printed K has no M.",
    ),
)
