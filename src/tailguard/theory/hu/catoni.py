"""Hu et al. 2022, Lemma 4: the error of a Catoni mean, the estimator behind Algorithms 1 and 5.

The estimator averages s·φ(x(1 + η)/s) over the records and over η ~ N(0, 1/β), φ bounded by 2√2/3.

Corrections. (i) The smoothing only costs. The proof compares the law of η with N(1, 1/β) and pays the divergence β/2;
compared with itself it pays nothing (that is Jensen's inequality), and the term s·β/(2n) of (12) disappears. What is
left, M²/(2s)·(1 + 1/β) + s·ln(2/ζ)/n, is best without smoothing, β = ∞: `sharp_catoni_mean`. (ii) The second display
after (19) lacks the 1/2 of its last line; the result is right.
"""

import math
from functools import partial

from tailguard._validate import real
from tailguard.theory.rate import HALF, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = ["RATES", "catoni_mean", "catoni_scale", "sharp_catoni_mean"]


def catoni_scale(setting: Setting, smoothing: float = 1.0) -> float:
    """Return the s at which (12) is smallest: M·√(n(1/β + 1)/(β + 2·ln(2/ζ))).

    Parameters
    ----------
    setting : Setting
        Uses n, order ≥ 2, bound, failure ζ; d = 1.
    smoothing : float
        β > 0.
    """
    _check(setting, "catoni_scale")
    beta = real("smoothing", smoothing, "catoni_scale", above=0.0)
    spread = beta + 2.0 * math.log(2.0 / setting.failure)
    return setting.bound * math.sqrt(setting.n * (1.0 / beta + 1.0) / spread)


def catoni_mean(setting: Setting, scale: float | None = None, smoothing: float = 1.0) -> float:
    """Return Lemma 4, (12): M²/(2s)·(1/β + 1) + (s/n)·(β/2 + ln(2/ζ)), ζ = failure. Not private.

    Parameters
    ----------
    setting : Setting
        Uses n, order ≥ 2, bound, failure; d = 1.
    scale : float or None
        s; None takes `catoni_scale`.
    smoothing : float
        β.

    Returns
    -------
    float
        An error that the Catoni mean exceeds with probability at most `failure`.

    Notes
    -----
    *Accuracy.* Assumes E x² ≤ M² (τ = M²). Noise for a sensitivity of 4√2·s/(3n), or less (`Catoni`), comes on top.
    """
    s = catoni_scale(setting, smoothing) if scale is None else real("scale", scale, "catoni_mean", above=0.0)
    _check(setting, "catoni_mean")
    beta = real("smoothing", smoothing, "catoni_mean", above=0.0)
    bias = setting.bound**2 / (2.0 * s) * (1.0 / beta + 1.0)
    return bias + s / setting.n * (0.5 * beta + math.log(2.0 / setting.failure))


def sharp_catoni_mean(setting: Setting) -> float:
    """Return Lemma 4 without smoothing, at the best s = M·√(n/(2·ln(2/ζ))): M·√(2·ln(2/ζ)/n). Not private.

    Parameters
    ----------
    setting : Setting
        As in `catoni_mean`.

    Returns
    -------
    float
        An error that the mean of s·φ(x/s) exceeds with probability at most `failure`.
    """
    _check(setting, "sharp_catoni_mean")
    return setting.bound * math.sqrt(2.0 * math.log(2.0 / setting.failure) / setting.n)


def _check(setting: Setting, owner: str) -> None:
    setting.check(owner, least_order=2.0, scalar=True)


_rate = partial(
    Rate,
    kind="upper",
    task="mean",
    privacy="none",
    moment="coordinate",
    orders=(2.0, math.inf),
    explicit=True,
    exponent_n=Exponent(-HALF),
    exponent_d=None,
    exponent_epsilon=Exponent(),
    exponent_sampling=Exponent(-HALF),
)

RATES = (
    _rate(
        name="Catoni mean",
        paper="Hu et al. 2022",
        statement="Lemma 4, (12)",
        formula="M²/(2s)·(1/β′ + 1) + (s/n)·(β′/2 + ln(2/β)), β′ = 1",
        function=catoni_mean,
        caveat="The smoothing by β′ only costs.",
    ),
    _rate(
        name="Catoni mean, not smoothed",
        paper="tailguard, after Hu et al. 2022",
        statement="Lemma 4 with β′ = ∞",
        formula="M·√(2·ln(2/β)/n)",
        function=sharp_catoni_mean,
    ),
)
