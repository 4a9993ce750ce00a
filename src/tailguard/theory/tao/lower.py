"""Tao et al. 2022, Theorems 2, 8, 9 and 11 and Lemma 21: what no private algorithm can beat.

The instances are in `tailguard.theory.instances`, versions with proved constants in `tailguard.theory.explicit`. Each
holds for moments of every order p > 1, although the paper states them for p ≤ 2.

The halves for (ε, δ)-DP rest on Lemma 15, whose proof goes the wrong way: that ρ-zCDP implies (ε, δ)-DP carries an
upper bound over, not a lower one. What is proved is the bound for ρ-zCDP algorithms with ρ = ε²/(4 ln(1/δ)). As printed
it is also too large for small δ: a pure algorithm is (ε, δ)-DP for every δ, and at d = 1 truncation with Laplace noise
has the error (1/(nε))^κ, while √(d·ln(1/δ)) grows without limit. Here the complexity is min(d, √(d·ln(1/δ))), which
agrees with the paper for ln(1/δ) ≤ d.
"""

import math
from functools import partial

from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = [
    "RATES",
    "convex_lower",
    "convex_lower_pure",
    "mean_lower",
    "sharp_sparse_lower",
    "sparse_lower",
    "sparse_lower_pure",
    "strongly_convex_lower",
    "strongly_convex_lower_pure",
    "vector_mean_lower",
    "vector_mean_lower_pure",
]


def mean_lower(setting: Setting) -> float:
    """Return the rate of Theorem 2: M·min(1, 1/(nε))^κ.

    Parameters
    ----------
    setting : Setting
        Uses n, epsilon, order, bound; d = 1. The hidden constant is 1; `explicit.two_point` has a proved one.

    Returns
    -------
    float
        An error that every ε-DP estimator, and every (ε, δ)-DP one with δ well below ε, has with constant probability.

    Notes
    -----
    The instance is `TwoPoint`: 0 or τ = (u/p)^(1/(1+v)), against the point 0. The proof's second "n ∈ Ω(u^(1/(v+1))…"
    should have u^(1/v).
    """
    setting.check("mean_lower", scalar=True)
    return setting.bound * _capped(setting, 1.0)


def vector_mean_lower_pure(setting: Setting) -> float:
    """Return the rate of Lemma 21 for ε-DP: M·√d·min(1, d/(nε))^κ, in expected ℓ2 error.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order, bound. The hidden constant is 1; `explicit.packing` has a proved one.

    Notes
    -----
    The instance is `Packing`. Correction: the means are not 2ι apart (that is more than the √2·ι of disjoint supports)
    but at least ι/2, since codewords of weight d/2 differ in at least d/8 places.
    """
    return setting.bound * math.sqrt(setting.d) * _capped(setting, setting.d)


def vector_mean_lower(setting: Setting) -> float:
    """Return the rate of Lemma 21 for (ε, δ)-DP: M·√d·min(1, min(d, √(d·ln(1/δ)))/(nε))^κ.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, delta, order, bound. The hidden constant is 1; `explicit.concentrated_packing` has a proved
        one for ρ-zCDP. Corrections: see the module.
    """
    return setting.bound * math.sqrt(setting.d) * _capped(setting, _complexity(setting, setting.d))


def strongly_convex_lower_pure(setting: Setting) -> float:
    """Return the rate of Theorem 8 for ε-DP: M²·d·min(1, d/(nε))^(2κ), the square of Lemma 21.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order, bound. The hidden constant is 1. Stated for n ≥ u^(1/v)·d^((1+3v)/(2v))/ε, which
        puts the means into the unit ball.

    Notes
    -----
    The loss is ‖x − w‖²/2. Its gradient w − x has p-th moments of up to 2^v(u + 1) over the unit ball, not u as stated:
    the theorem needs u ≥ 1 or so.
    """
    return vector_mean_lower_pure(setting) ** 2


def strongly_convex_lower(setting: Setting) -> float:
    """Return the rate of Theorem 8 for (ε, δ)-DP: M²·d·min(1, min(d, √(d·ln(1/δ)))/(nε))^(2κ).

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, delta, order, bound. Stated for n ≥ u^(1/v)·√ln(1/δ)·d^((1+2v)/(2v))/ε. Corrections: see the
        module and `strongly_convex_lower_pure`.
    """
    return vector_mean_lower(setting) ** 2


def convex_lower_pure(setting: Setting) -> float:
    """Return the rate of Theorem 9 for ε-DP: Δ·M·√d·min(1, d/(nε))^κ.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order, bound, diameter. The hidden constant is 1; the paper's unit ball has Δ = 2.

    Notes
    -----
    The loss is −⟨w, x⟩. Its minimiser on the ball has a gradient that is not 0 and the loss is negative somewhere, so
    it is outside Assumption 1, under which Theorem 6 is stated.
    """
    return setting.diameter * vector_mean_lower_pure(setting)


def convex_lower(setting: Setting) -> float:
    """Return the rate of Theorem 9 for (ε, δ)-DP: Δ·M·√d·min(1, min(d, √(d·ln(1/δ)))/(nε))^κ.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, delta, order, bound, diameter. Corrections: see the module and `convex_lower_pure`.
    """
    return setting.diameter * vector_mean_lower(setting)


def sparse_lower_pure(setting: Setting) -> float:
    """Return the rate of Theorem 11 for ε-DP: M²·min(1, s·ln d/(nε))^(2κ), s = s*.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order, bound, sparsity. The hidden constant is 1.

    Notes
    -----
    Corrections. The scaled codewords of Lemma 28 are at least 1/2 apart, not √2. And they need not be scaled by
    1/√(2s): with entries in {−1, 0, 1} every coordinate still has the moment u, and both halves gain the factor s. The
    half for (ε, δ)-DP is then s^((1+2v)/(1+v)), the exponent of Theorem 10, so the gap of "O(s*)" closes. The printed,
    weaker bounds are returned; `sharp_sparse_lower` and, for δ = 0, `hu.sharp_sparse_mean_lower` have the factor.
    """
    return (setting.bound * _capped(setting, setting.sparsity * math.log(setting.d))) ** 2


def sparse_lower(setting: Setting) -> float:
    """Return the rate of Theorem 11 for (ε, δ)-DP: M²·min(1, min(a, √(a·ln(1/δ)))/(nε))^(2κ), a = s·ln d.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, delta, order, bound, sparsity. Corrections: see the module and `sparse_lower_pure`.
    """
    complexity = _complexity(setting, setting.sparsity * math.log(setting.d))
    return (setting.bound * _capped(setting, complexity)) ** 2


def sharp_sparse_lower(setting: Setting) -> float:
    """Return s times Theorem 11 for (ε, δ)-DP, M²·s·min(1, min(a, √(a·ln(1/δ)))/(nε))^(2κ): the words are not scaled.

    Parameters
    ----------
    setting : Setting
        As in `sparse_lower`. Up to logarithms this is Theorem 10, for ρ-zCDP (see the module).
    """
    return setting.sparsity * sparse_lower(setting)


def _complexity(setting: Setting, size: float) -> float:
    setting.check("the lower bound for (ε, δ)-DP", approximate=True)
    return min(size, math.sqrt(size * math.log(1.0 / setting.delta)))


def _capped(setting: Setting, complexity: float) -> float:
    """Return p^κ for the probability p = min(1, complexity/(nε)) of the instance."""
    return min(1.0, setting.private(complexity))


_CONVERSION = "Proved for ρ-zCDP only (Lemma 15 converts the wrong way); false for δ → 0 without the minimum."
_rate = partial(
    Rate,
    paper="Tao et al. 2022",
    kind="lower",
    moment="coordinate",
    orders=(1.0, math.inf),
    explicit=False,
    exponent_n=MINUS_KAPPA,
    exponent_epsilon=MINUS_KAPPA,
)
_squared = partial(_rate, exponent_n=Exponent(0, -2), exponent_epsilon=Exponent(0, -2))

RATES = (
    _rate(
        name="scalar mean, lower bound",
        statement="Theorem 2",
        task="mean",
        privacy="approximate",
        formula="M·(1/(nε))^κ",
        function=mean_lower,
        exponent_d=None,
    ),
    _rate(
        name="mean, lower bound, pure",
        statement="Lemma 21",
        task="mean",
        privacy="pure",
        formula="M·√d·(d/(nε))^κ",
        function=vector_mean_lower_pure,
        exponent_d=Exponent(HALF, 1),
    ),
    _rate(
        name="mean, lower bound",
        statement="Lemma 21",
        task="mean",
        privacy="concentrated",
        formula="M·√d·(min(d, √(d·ln(1/δ)))/(nε))^κ",
        function=vector_mean_lower,
        exponent_d=Exponent(HALF, HALF),
        caveat=_CONVERSION,
    ),
    _squared(
        name="strongly convex, lower bound, pure",
        statement="Theorem 8",
        task="strongly convex",
        privacy="pure",
        formula="M²·d·(d/(nε))^(2κ)",
        function=strongly_convex_lower_pure,
        exponent_d=Exponent(1, 2),
        caveat="The moments of the gradient reach 2^v(u + 1), not u.",
    ),
    _squared(
        name="strongly convex, lower bound",
        statement="Theorem 8",
        task="strongly convex",
        privacy="concentrated",
        formula="M²·d·(min(d, √(d·ln(1/δ)))/(nε))^(2κ)",
        function=strongly_convex_lower,
        exponent_d=Exponent(1, 1),
        caveat=_CONVERSION,
    ),
    _rate(
        name="convex, lower bound, pure",
        statement="Theorem 9",
        task="convex",
        privacy="pure",
        formula="Δ·M·√d·(d/(nε))^κ",
        function=convex_lower_pure,
        exponent_d=Exponent(HALF, 1),
        caveat="The linear loss is outside Assumption 1 (∇L(w*) ≠ 0).",
    ),
    _rate(
        name="convex, lower bound",
        statement="Theorem 9",
        task="convex",
        privacy="concentrated",
        formula="Δ·M·√d·(min(d, √(d·ln(1/δ)))/(nε))^κ",
        function=convex_lower,
        exponent_d=Exponent(HALF, HALF),
        caveat=_CONVERSION,
    ),
    _squared(
        name="sparse, lower bound, pure",
        statement="Theorem 11",
        task="sparse",
        privacy="pure",
        formula="M²·(s·ln d/(nε))^(2κ)",
        function=sparse_lower_pure,
        exponent_d=Exponent(),
        caveat="A factor s too small: the codewords need not be scaled.",
    ),
    _squared(
        name="sparse, lower bound",
        statement="Theorem 11",
        task="sparse",
        privacy="concentrated",
        formula="M²·(min(a, √(a·ln(1/δ)))/(nε))^(2κ), a = s·ln d",
        function=sparse_lower,
        exponent_d=Exponent(),
        caveat=_CONVERSION,
    ),
    _squared(
        name="sparse, lower bound, words not scaled",
        paper="tailguard, after Tao et al. 2022",
        statement="Theorem 11",
        task="sparse",
        privacy="concentrated",
        formula="M²·s·(min(a, √(a·ln(1/δ)))/(nε))^(2κ), a = s·ln d",
        function=sharp_sparse_lower,
        exponent_d=Exponent(),
        caveat=_CONVERSION,
    ),
)
