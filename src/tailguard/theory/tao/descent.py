"""Tao et al. 2022, Theorems 6, 7 and 10: excess risks of gradient methods on medians of means and truncated means."""

import math
from fractions import Fraction
from functools import partial

from tailguard._validate import integer
from tailguard.theory.hu import thresholding
from tailguard.theory.rate import HALF, MINUS_KAPPA, Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = ["RATES", "convex_risk", "sparse_risk", "sparse_threshold", "strongly_convex_risk"]


def convex_risk(setting: Setting) -> float:
    """Return the rate of Theorem 6: Δ·M·(x + x³) with x = √d·(d^(3/2)/(nε))^κ.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, order ≤ 2, bound, diameter. Hidden constants are 1, logarithms are left out.

    Returns
    -------
    float
        Expected excess risk of Algorithm 2 on a convex, smooth population risk.

    Notes
    -----
    *Accuracy.* Assumption 1: bounded domain, β-smooth risk with ‖∇L‖ ≤ R and ∇L(w*) = 0, coordinates of the gradient
    with a p-th moment. R is taken to be M.

    Corrections. The exponents (1+4v)/(2+2v) of d and v/(1+v) of nε, and three times both, follow from the printed τ, T
    and η and Lemmas 17 and 19; the last line of the proof mixes the two terms. The printed factor u² is not
    homogeneous (multiply the loss by c: the risk grows by c, u² by c^(2+2v)), because τ has no u; with
    τ = M·(εn/d^(3/2))^(1/(1+v)) every term has the factor M, which is used here and agrees at u = 1.

    Gap in the proof. Lemma 19 covers the domain by balls and says that the truncated group means move by at most βγ
    inside one. That needs smoothness of every record's loss, and even then x·1{|x| ≤ τ} jumps by τ.
    """
    setting.check("convex_risk", greatest_order=2.0, most_epsilon=1.0)
    x = math.sqrt(setting.d) * setting.private(setting.d**1.5)
    return float(setting.diameter * setting.bound * (x + x**3))


def strongly_convex_risk(setting: Setting) -> float:
    """Return the rate of Theorem 7: (Δ+1)²(α+β)²/(α²β)·M²·d·(√d/(nε))^(2κ).

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, order ≤ 2, bound, diameter, smoothness β, convexity α. Hidden constants are 1,
        logarithms (the number of steps among them) are left out.

    Returns
    -------
    float
        Expected excess risk of Algorithm 2 on an α-strongly convex, β-smooth population risk.

    Notes
    -----
    Corrections. The exponent (1+2v)/(1+v) of d belongs to τ = (uεn/(T√d))^(1/(1+v)), Theorem 3's best threshold on a
    block of n/T records. The printed τ has d^(3/2)√T there, as in Theorem 6, and would give (1+4v)/(1+v), which is what
    the introduction says; Lemma 20 has √(dT). In T = ln((α+β)G/(αβ))/ln((α²+β²+αβ)/(α+β)²) the letter G is undefined.
    With G the gradient's error V of Lemma 18 both logarithms are negative as soon as V < αβ/(α+β), and T is positive as
    it should be; with a G above αβ/(α+β) it is negative. Lemma 18 prints the contraction as 1 − (α+β)/(α+β)², and then
    with the denominator α²+β², for 1 − αβ/(α+β)²; its α²β² is α²β, as the theorem says.

    Gap in the proof. Corollary 1 holds with probability 0.9 and is used as a bound on an expectation; ξ = 1/poly(n)
    repairs it at the cost of a logarithm.
    """
    setting.check("strongly_convex_risk", greatest_order=2.0, most_epsilon=1.0)
    alpha, beta = setting.convexity, setting.smoothness
    condition = ((setting.diameter + 1.0) * (alpha + beta) / alpha) ** 2 / beta
    error = setting.bound * math.sqrt(setting.d) * setting.private(math.sqrt(setting.d))
    return float(condition * error**2)


def sparse_threshold(setting: Setting, kept: int | None = None, steps: int | None = None) -> float:
    """Return B = M·(nε/(T·ln(dT/ξ)·√(s·ln(1/δ))))^(1/(1+v)) of Theorem 10, ξ = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≤ 2, bound, failure; and smoothness, convexity, sparsity for s and T.
    kept, steps : int or None
        s and T; None takes `hu.kept` and `hu.thresholding_steps`, which Theorem 10 has too.

    Notes
    -----
    Correction. The theorem has γ inside the power. The step 2/(3γ) puts the same power of γ in front of bias and noise,
    so that their balance has none; with it B would not scale with the loss.
    """
    setting.check("sparse_threshold", greatest_order=2.0, most_epsilon=1.0, approximate=True)
    s = thresholding.kept(setting) if kept is None else integer("kept", kept, "sparse_threshold", at_most=setting.d)
    T = thresholding.thresholding_steps(setting) if steps is None else integer("steps", steps, "sparse_threshold")
    logs = math.log(setting.d * T / setting.failure) * math.sqrt(s * math.log(1.0 / setting.delta))
    return float(setting.bound * (setting.n * setting.epsilon / (T * logs)) ** (1.0 / setting.order))


def sparse_risk(setting: Setting) -> float:
    """Return the rate of Theorem 10: M²·a²·s/μ·(a²·ln n·ln(d/ξ)·√(s·ln(1/δ))/(nε))^(2κ), a = γ/μ, s = s*, ξ = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≤ 2, bound, failure, smoothness γ, convexity μ, sparsity. The hidden
        constant is 1.

    Returns
    -------
    float
        An excess risk that Algorithm 5 exceeds with probability at most `failure`.

    Notes
    -----
    *Accuracy.* Assumption 2: restricted strong convexity and smoothness, coordinates of the gradient with a p-th
    moment at every s-sparse point. (s*)^((1+2v)/(1+v)) = s·(√s)^(2κ). The theorem leaves out γ and μ; they follow from
    (55) with both powers of γ that it drops, and make the risk homogeneous. At p = 2 this is Theorem 8 of Hu et al.
    2022.
    """
    setting.check("sparse_risk", greatest_order=2.0, most_epsilon=1.0, approximate=True)
    s, a, logs = setting.sparsity, setting.condition, math.log(setting.n) * math.log(setting.d / setting.failure)
    factor = setting.private(a**2 * logs * math.sqrt(s * math.log(1.0 / setting.delta)))
    return float(a**2 * s / setting.convexity * (setting.bound * factor) ** 2)


_rate = partial(
    Rate,
    paper="Tao et al. 2022",
    kind="upper",
    privacy="approximate",
    moment="coordinate",
    orders=(1.0, 2.0),
    explicit=False,
)

RATES = (
    _rate(
        name="median of means, convex",
        statement="Theorem 6",
        task="convex",
        formula="Δ·M·(x + x³), x = √d·(d^(3/2)/(nε))^κ",
        function=convex_risk,
        exponent_n=MINUS_KAPPA,
        exponent_d=Exponent(HALF, Fraction(3, 2)),
        exponent_epsilon=MINUS_KAPPA,
        caveat="Proof gap: truncated means are not Lipschitz in w (Lemma 19). The printed u² is not homogeneous.",
    ),
    _rate(
        name="median of means, strongly convex",
        statement="Theorem 7",
        task="strongly convex",
        formula="(Δ+1)²(α+β)²/(α²β)·M²·d·(√d/(nε))^(2κ)",
        function=strongly_convex_risk,
        exponent_n=Exponent(0, -2),
        exponent_d=Exponent(1, 1),
        exponent_epsilon=Exponent(0, -2),
        caveat="The printed τ gives d^(1+3κ); this exponent needs τ = (uεn/(T√d))^(1/p).",
    ),
    _rate(
        name="truncated thresholding",
        statement="Theorem 10",
        task="sparse",
        formula="M²·a²·s/μ·(a²·ln n·ln(d/β)·√(s·ln(1/δ))/(nε))^(2κ), a = γ/μ",
        function=sparse_risk,
        exponent_n=Exponent(0, -2),
        exponent_d=Exponent(),
        exponent_epsilon=Exponent(0, -2),
        caveat="The printed B has γ inside the power and does not scale with the loss.",
    ),
)
