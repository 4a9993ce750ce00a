"""Lower bounds with proved constants, from the same instances, for every n.

A data set drawn from a mixture with probability q of a non-zero record differs from the data set of zeros in K records,
K binomial. Group privacy, averaged over K, compares the outputs for events S:

    P_q(S) ≤ e^c·P_0(S) + δ·(e^c − 1)/(e^ε − 1),     e^c = E e^(εK) = (1 + q(e^ε − 1))^n,

and P_0 cannot favour all of many disjoint events. This is shorter and sharper than the private Fano lemma that Tao et
al. 2022 quote (Lemma 14), whose e^(10εnq) is e^c ≤ e^(nq(e^ε − 1)) here.
"""

import math
from functools import partial
from typing import Literal

from tailguard._validate import choice
from tailguard.theory.packing import DISTANCE, GROWTH
from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = ["RATES", "concentrated_packing", "packing", "two_point"]

Of = Literal["coordinate", "direction"]


def two_point(setting: Setting) -> float:
    """Return an error that every (ε, δ)-DP estimator of a mean has with probability at least `failure`.

    M·q^κ/2 with (1 + q(e^ε − 1))^n = (1 − β + a)/(β + a), a = δ/(e^ε − 1), β = failure; 0 for β ≥ 1/2.

    Parameters
    ----------
    setting : Setting
        Uses n, epsilon, delta (0 is pure), order, bound, failure. Holds in every dimension.

    Returns
    -------
    float
        The error, on `TwoPoint` with this q or on its partner.

    Notes
    -----
    Proof. Let S be the event of an answer within half of the mean qτ = M·q^κ of it. An estimator that is that accurate
    with probability more than 1 − β on both has P_q(S) > 1 − β and P_0(S) < β, so 1 − β < e^c·β + a(e^c − 1).
    """
    beta, extra = setting.failure, setting.delta / math.expm1(setting.epsilon)
    if beta >= 0.5:
        return 0.0
    return 0.5 * _separation(setting, math.log1p((1.0 - 2.0 * beta) / (beta + extra)))


def packing(setting: Setting, of: Of = "coordinate") -> float:
    """Return an expected ℓ2 error that every ε-DP estimator of a mean has, from a code of |Θ| = 2^(7d/128) words.

    M·q^κ·√(d/8)/4 with (1 + q(e^ε − 1))^n = |Θ|/2; 0 where that is below 1, thus for d < 19.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order, bound.
    of : {"coordinate", "direction"}
        Whose moment is bounded; for directions the codewords are divided by their length √⌊d/2⌋.

    Notes
    -----
    Proof. The events "the nearest mean is θ's" are disjoint, so P_0 gives them 1/|Θ| on average, and P_θ at most
    e^c/|Θ| = 1/2. In the other half the error is at least half of the smallest distance of two means.
    """
    c = GROWTH * setting.d - math.log(2.0)
    return 0.25 * _spread(setting, of) * _separation(setting, c) if c > 0.0 else 0.0


def concentrated_packing(setting: Setting, of: Of = "coordinate") -> float:
    """Return an expected ℓ2 error that every ρ-zCDP estimator of a mean has, ρ = ε²/(1 + 2√ln(1/δ))².

    M·q^κ·√(d/8)/4 with ρ((nq)² + nq) = ln|Θ|/2 − ln 2 and ln|Θ| = 7d·ln 2/128; 0 where that is negative, d < 37.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, delta > 0, order, bound.
    of : {"coordinate", "direction"}
        As in `packing`.

    Notes
    -----
    Fano's inequality with the mutual information ρ·E[K²] ≤ ρ((nq)² + nq) (Kamath et al. 2022, Theorem 1.4).
    """
    information = 0.5 * GROWTH * setting.d - math.log(2.0)
    if information <= 0.0:
        return 0.0
    ratio = information / setting.rho
    expected = 2.0 * ratio / (1.0 + math.sqrt(1.0 + 4.0 * ratio))
    probability = min(1.0, expected / setting.n)
    return float(0.25 * _spread(setting, of) * setting.bound * probability**setting.power)


def _separation(setting: Setting, c: float) -> float:
    """Return M·q^κ for the q with (1 + q(e^ε − 1))^n = e^c, at most 1."""
    probability = min(1.0, math.expm1(c / setting.n) / math.expm1(setting.epsilon))
    return float(setting.bound * probability**setting.power)


def _spread(setting: Setting, of: str) -> float:
    """Return the smallest distance of two codewords: √(d/8), or that over the length √⌊d/2⌋ of each."""
    choice("of", of, "the packing bound", ("coordinate", "direction"))
    return math.sqrt(DISTANCE * setting.d / (1 if of == "coordinate" else setting.d // 2))


_rate = partial(
    Rate,
    paper="tailguard, after Tao et al. 2022",
    kind="lower",
    task="mean",
    moment="coordinate",
    orders=(1.0, math.inf),
    explicit=True,
    exponent_n=MINUS_KAPPA,
    exponent_epsilon=MINUS_KAPPA,
)

RATES = (
    _rate(
        name="two points",
        statement="instance of Lemma 16",
        privacy="approximate",
        formula="M·q^κ/2, (1 + q(e^ε − 1))^n = (1 − β + a)/(β + a), a = δ/(e^ε − 1)",
        function=two_point,
        exponent_d=Exponent(),
    ),
    _rate(
        name="packing, pure",
        statement="instance of Lemma 21",
        privacy="pure",
        formula="M·q^κ·√(d/8)/4, (1 + q(e^ε − 1))^n = 2^(7d/128)/2",
        function=packing,
        exponent_d=Exponent(HALF, 1),
    ),
    _rate(
        name="packing, concentrated",
        statement="instance of Lemma 21",
        privacy="concentrated",
        formula="M·q^κ·√(d/8)/4, ρ((nq)² + nq) = 7d·ln 2/256 − ln 2",
        function=concentrated_packing,
        exponent_d=Exponent(HALF, HALF),
    ),
)
