"""Lowy 2026, appendices E and F: the exponential mechanism on a net, scored by gradients or by the loss itself.

Algorithm 5 scores the points of a net by the norm of the clipped gradient mapping, Algorithm 7 by the regularised
Lipschitz extension; both are inner solvers of Algorithm 1. `order` is k, `bound` is G_k, `smoothness` is H, of every
record's loss, `diameter` is D and the paper's δ is `failure`.

Corrections. (i) Step 2 of Theorem E.1 writes the gradient mapping (w − Π(T(w)))/γ as (I − Π)(T(w))/γ. These differ:
without a constraint the second is 0. What follows from it holds all the same: Π is firmly nonexpansive, and that makes
the score √2·(H + λ)-Lipschitz, below the printed 2(H + λ). (ii) Proposition E.4 sets γ, and with it the score and the
net, by the largest smoothness of the records: that is not private. One record with a large slope moves 1/γ, and with it
the score near the boundary of W, by any amount. H, γ and the net must be public.
(iii) (30) has the radius of W_0 for its diameter. The privacy of Algorithm 7 survives because the anchor u_0 changes no
probability: measured from the centre of W_0, Lemma F.1 holds with the radius.
"""

import math
from functools import partial

import numpy as np

from tailguard._validate import integer, real
from tailguard.theory.lowy.localisation import base_ridge, check, double_output_risk, moment
from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = [
    "RATES",
    "approximate_exponential_risk",
    "gradient_mapping_distance",
    "gradient_mapping_net",
    "gradient_mapping_risk",
    "log_largest_ridge",
    "smoothed_mapping_risk",
]

RATIO = 32.0
"""Growth of the regulariser from phase to phase in Algorithm 1."""


def gradient_mapping_net(setting: Setting, ridge: float) -> float:
    """Return η = Cd/(εm(λ + H)) of Theorem E.1, the radius of the net; with its C that is G_k·(d/(mε))^κ/(λ + H).

    Parameters
    ----------
    setting : Setting
        Uses n (the m of one block), d, epsilon, order ≥ 2, bound, smoothness.
    ridge : float
        λ.
    """
    setting.check("gradient_mapping_net", least_order=2.0)
    strength = real("ridge", ridge, "gradient_mapping_net", above=0.0) + setting.smoothness
    return setting.bound * setting.private(setting.d) / strength


def gradient_mapping_distance(setting: Setting, ridge: float) -> float:
    """Return Theorem E.1 with its constants: a distance that Algorithm 5 exceeds with probability at most 0.3.

    (a/λ)·(10/(k − 1) + √2 + 4·ln(3D/η) + 4·ln(10)/d) with a = G_k·(d/(mε))^κ and η of `gradient_mapping_net`.

    Parameters
    ----------
    setting : Setting
        Uses n (the m of one block), d, epsilon, order ≥ 2, bound, smoothness, diameter.
    ridge : float
        λ.

    Returns
    -------
    float
        A bound on the distance to the regularised minimiser over W.

    Notes
    -----
    Clipping moves the gradient by at most (5/(k − 1))·a with probability 0.8 (Markov), the pick loses at most
    (4C/(mε))·ln(10·points) with probability 0.9, and the net √2·(H + λ)η = √2·a. For the last, let a be the
    difference of two points, b ≤ (H + λ)‖a‖ in norm that of their regularised clipped gradients, p that of the
    projections: ‖p‖² ≤ ⟨p, a − γb⟩ gives ‖a − p‖² ≤ ‖a‖² − ‖p‖² − 2⟨p, γb⟩ ≤ ‖a‖² + ‖γb‖² ≤ 2‖a‖².
    """
    net = gradient_mapping_net(setting, ridge)
    a = setting.bound * setting.private(setting.d)
    points = math.log(max(3.0 * setting.diameter / net, 1.0)) + math.log(10.0) / setting.d
    return float(a / ridge * (10.0 / (setting.order - 1.0) + math.sqrt(2.0) + 4.0 * points))


def gradient_mapping_risk(setting: Setting, second: float | None = None) -> float:
    """Return the rate of Theorem E.2, (26), for H-smooth losses.

    D·(G_2·√(ln(1/δ)/n) + G_k·(d·ln(1/δ)/(nε))^κ·Λ), Λ = ln(D(λ_max + H)·nε/(G_k·d)), at least 1.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, failure < 1/5, diameter, smoothness. Hidden constants are 1.
    second : float or None
        G_2; None takes `bound`.

    Returns
    -------
    float
        An excess risk that Algorithm 1 with Algorithm 5 exceeds with probability at most `failure`.
    """
    return _logarithmic_risk(setting, math.log(setting.smoothness), second)


def smoothed_mapping_risk(setting: Setting, second: float | None = None) -> float:
    """Return the rate of Theorem E.5, for any convex loss after ball smoothing with τ = D/√n.

    That of Theorem E.2 with d·G_2·√n/τ for H, and 2τG_2 more.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order ≥ 2, bound, failure < 1/5, diameter. Hidden constants are 1.
    second : float or None
        G_2; None takes `bound`.

    Notes
    -----
    As printed the algorithm is not private; see the module. With a public H of this size it is.
    """
    G2 = moment(setting, "second", second)
    smoothness = math.log(setting.d * G2 / setting.diameter) + math.log(setting.n)
    extra = 2.0 * setting.diameter * G2 / math.sqrt(setting.n)
    return _logarithmic_risk(setting, smoothness, second) + extra


def approximate_exponential_risk(setting: Setting, second: float | None = None) -> float:
    """Return the rate of Theorem F.6, for Algorithm 7: that of Theorem 3.1.

    Parameters
    ----------
    setting : Setting
        As in `double_output_risk`; the theorem allows failure up to 1/10 in a phase.
    second : float or None
        G_2; None takes `bound`.

    Notes
    -----
    By its constants the second stage is far worse than output perturbation: the distance in Proposition F.5 is
    √(640·600)·Cd/(λmε) = 620·Cd/(λmε) with probability 0.95, where noise of scale 2C/(λmε) has the norm 2Cd/(λmε).
    """
    return double_output_risk(setting, second)


def log_largest_ridge(setting: Setting, second: float | None = None) -> float:
    """Return ln λ_max = ln(32^(T−1)·λ_1) with T = ⌈log₂ n⌉ phases, as Algorithm 1 has it: λ_max is about n⁵·λ_1.

    Parameters
    ----------
    setting : Setting
        As in `base_ridge`.
    second : float or None
        G_2; None takes `bound`.
    """
    phases = (integer("n", setting.n, "log_largest_ridge") - 1).bit_length()
    return math.log(base_ridge(setting, second)) + max(phases - 1, 0) * math.log(RATIO)


def _logarithmic_risk(setting: Setting, log_smoothness: float, second: float | None) -> float:
    """Return (26) for a given ln H."""
    check(setting, "gradient_mapping_risk")
    curvature = float(np.logaddexp(log_largest_ridge(setting, second), log_smoothness))
    size = math.log(setting.diameter / setting.bound) + math.log(setting.n) + math.log(setting.epsilon / setting.d)
    log = math.log(1.0 / setting.failure)
    private = setting.bound * setting.private(setting.d * log) * max(1.0, curvature + size)
    sampling = moment(setting, "second", second) * math.sqrt(log / setting.n)
    return float(setting.diameter * (sampling + private))


_rate = partial(
    Rate,
    paper="Lowy 2026",
    kind="upper",
    task="convex",
    privacy="pure",
    moment="norm",
    orders=(2.0, math.inf),
    explicit=False,
    exponent_n=MINUS_KAPPA,
    exponent_d=Exponent(0, 1),
    exponent_epsilon=MINUS_KAPPA,
    exponent_sampling=Exponent(-HALF),
)

RATES = (
    _rate(
        name="gradient mapping",
        statement="Theorem E.2, (26)",
        formula="D·M·(√(ln(1/β)/n) + (d·ln(1/β)/(nε))^κ·ln(D(λ_max + H)·nε/(Md)))",
        function=gradient_mapping_risk,
    ),
    _rate(
        name="gradient mapping, smoothed losses",
        statement="Theorem E.5",
        formula="D·M·(√(ln(1/β)/n) + (d·ln(1/β)/(nε))^κ·ln(D(λ_max + dMn/D)·nε/(Md)) + 2/√n)",
        function=smoothed_mapping_risk,
        caveat="Not private as printed: the step size γ depends on the data.",
    ),
    _rate(
        name="approximate exponential mechanism",
        statement="Theorem F.6",
        formula="D·M·((d·ln(1/β)/(nε))^κ + √(ln(1/β)/n))",
        function=approximate_exponential_risk,
        caveat="Proposition C.3 bounds the bias of the extension by the diameter of the wrong set.",
    ),
)
