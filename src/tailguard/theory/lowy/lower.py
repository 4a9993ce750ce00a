"""Lowy 2026, Theorems 4.1, G.5 and G.6: what no purely private algorithm can beat; proofs in lower.md.

The instances are in `tailguard.theory.lowy.instances`; ζ (in section 4: δ) is `failure`.

Corrections. (i) Theorem 4.1 has its quantifiers in the wrong order: no instance is hard for every algorithm, since one
of them answers its minimiser always. Theorem G.6 has it right: for every algorithm there is an instance. (ii) Lemma G.1
needs means of equal length, and a packing of the ball (Proposition G.4) has others; take the sphere. (iii) In the proof
of Lemma G.1 the inequality F − inf F ≥ (Dm/2)(1 − ⟨u, v⟩) fails for answers w with ⟨u, w⟩ > 0: at w = a·u, a small,
the left side is Dm/2 + ma and the right side Dm. The lemma holds, as for w = 0 in its proof. (iv) q of Proposition G.4
is negative at d = 1 for ζ > 1/(4e) = 0.092 and two points. (v) "R ≥ c_0·G²p^(2−2/k)" there is c_0².
"""

import math
from functools import partial

from tailguard._validate import real
from tailguard.theory.lowy.instances import log_code_size, sign_bias, spike_probability
from tailguard.theory.lowy.localisation import moment
from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = ["RATES", "explicit_mean_lower", "explicit_risk_lower", "mean_lower", "risk_lower"]

CLOSE = (2.0 - math.sqrt(3.0)) / 4.0
"""Half of the least excess risk that one answer has on two means of length 1 that are 1 apart, summed, for D = 1."""


def mean_lower(setting: Setting, second: float | None = None) -> float:
    """Return the rate of Theorem G.5: G_2·min(1, √(ln(1/ζ)/n)) + G_k·min(1, (d + ln(1/ζ))/(nε))^κ.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, order ≥ 2, bound, failure ≤ 1/4. Hidden constants are 1; the paper states squares.
    second : float or None
        G_2; None takes `bound`.

    Returns
    -------
    float
        An ℓ2 error that every ε-DP estimator of a mean has with probability at least `failure`, for some distribution
        with E‖z‖^k ≤ G_k^k.
    """
    _check(setting, "mean_lower")
    log = math.log(1.0 / setting.failure)
    sampling = moment(setting, "second", second) * min(1.0, math.sqrt(log / setting.n))
    return sampling + setting.bound * min(1.0, setting.private(setting.d + log))


def risk_lower(setting: Setting, first: float | None = None, second: float | None = None) -> float:
    """Return the rate of Theorem 4.1: D·min{G_1, G_2·√(ln(1/ζ)/n) + G_k·((d + ln(1/ζ))/(nε))^κ}.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, order ≥ 2, bound, failure ≤ 1/4, diameter. Hidden constants are 1.
    first, second : float or None
        G_1 and G_2; None takes `bound`.

    Returns
    -------
    float
        An excess risk that every ε-DP algorithm has with probability at least `failure`, on some instance.
    """
    _check(setting, "risk_lower")
    log = math.log(1.0 / setting.failure)
    sampling = moment(setting, "second", second) * math.sqrt(log / setting.n)
    rate = sampling + setting.bound * setting.private(setting.d + log)
    return setting.diameter * min(moment(setting, "first", first), rate)


def explicit_mean_lower(setting: Setting, second: float | None = None) -> float:
    """Return Theorem G.5 with proved constants: max{ρ·G_2, G_k·q_2^κ, G_k·q_V^κ/2}.

    ρ is `sign_bias`, q_2 and q_V are `spike_probability` for a pair and for a code of exp(`log_code_size`) words.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, failure < 1/2.
    second : float or None
        G_2; None takes `bound`.

    Returns
    -------
    float
        An ℓ2 error that every ε-DP estimator has with probability at least `failure`, on `bounded_pair` or on a member
        of `spiked_packing`.
    """
    setting.check("explicit_mean_lower", least_order=2.0)
    sampling = moment(setting, "second", second) * sign_bias(setting)
    return max(sampling, _spike(setting, math.log(2.0)), 0.5 * _spike(setting, log_code_size(setting)))


def explicit_risk_lower(setting: Setting, second: float | None = None) -> float:
    """Return Theorem 4.1 with proved constants: D·max{ρ·G_2/2, G_k·q_2^κ/2, (2 − √3)·G_k·q_V^κ/4}.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, failure < 1/2, diameter.
    second : float or None
        G_2; None takes `bound`.

    Returns
    -------
    float
        An excess risk that every ε-DP algorithm has with probability at least `failure`, for the loss ⟨z, w⟩ on the
        ball of diameter D and one of the instances of `explicit_mean_lower`.
    """
    setting.check("explicit_risk_lower", least_order=2.0)
    sampling = moment(setting, "second", second) * sign_bias(setting)
    pair, code = _spike(setting, math.log(2.0)), _spike(setting, log_code_size(setting))
    return setting.diameter * max(0.5 * sampling, 0.5 * pair, CLOSE * code)


def _spike(setting: Setting, log_size: float) -> float:
    """Return the length G_k·q^κ of the means."""
    return float(setting.bound * spike_probability(setting, log_size) ** setting.power)


def _check(setting: Setting, owner: str) -> None:
    setting.check(owner, least_order=2.0, most_epsilon=1.0)
    real("failure", setting.failure, owner, at_most=0.25)


_rate = partial(
    Rate,
    kind="lower",
    privacy="pure",
    moment="norm",
    orders=(2.0, math.inf),
    exponent_n=MINUS_KAPPA,
    exponent_d=Exponent(0, 1),
    exponent_epsilon=MINUS_KAPPA,
    exponent_sampling=Exponent(-HALF),
)

RATES = (
    _rate(
        name="mean, lower bound, moments of the norm",
        paper="Lowy 2026",
        statement="Theorem G.5",
        task="mean",
        explicit=False,
        formula="M·(√(ln(1/β)/n) + ((d + ln(1/β))/(nε))^κ)",
        function=mean_lower,
    ),
    _rate(
        name="convex, lower bound, moments of the norm",
        paper="Lowy 2026",
        statement="Theorem 4.1",
        task="convex",
        explicit=False,
        formula="D·M·min(1, √(ln(1/β)/n) + ((d + ln(1/β))/(nε))^κ)",
        function=risk_lower,
        caveat="Not one instance for all algorithms, but for every algorithm an instance (Theorem G.6).",
    ),
    _rate(
        name="signs and spikes, mean",
        paper="tailguard, after Lowy 2026",
        statement="Theorem G.5",
        task="mean",
        explicit=True,
        formula="M·max{ρ, q_2^κ, q_V^κ/2}, q_V = (1 − β)·ln((V − 1)(1 − β)/β)/(nε), V = e^(0.13d)",
        function=explicit_mean_lower,
    ),
    _rate(
        name="signs and spikes, convex",
        paper="tailguard, after Lowy 2026",
        statement="Theorem G.6",
        task="convex",
        explicit=True,
        formula="D·M·max{ρ/2, q_2^κ/2, (2 − √3)·q_V^κ/4}, q_V as for the mean",
        function=explicit_risk_lower,
    ),
)
