"""Hu et al. 2022, Theorems 7 and 8: iterative hard thresholding with private peeling (Algorithms 3, 4 and 5).

Each of T steps has its own block of n/T records, takes a step η/γ along an estimated gradient, keeps the s entries that
peeling picks and adds Laplace noise to them. A step contracts the excess risk by 1 − μ/(24γ) and adds

    N = γ·s·‖noise‖∞² + (s/γ)·‖g̃ − g‖∞²,

up to constants, so that the excess risk ends at N·γ/μ. (The paper's (72) leaves out both powers of γ.)

*Theorem 8*, Catoni means of scale k: N = (1/γ)·(s²k²T²G²/(nε)² + s·M⁴/k²), G = √ln(1/δ)·ln(dT/ζ), is least at
k² = M²·nε/(√s·T·G) and then gives the theorem. *Theorem 7*, data clamped to ±K: the sensitivity has another √s, and

    N = (1/γ)·(s³K⁴T²G²/(nε)² + s·‖w‖₁²·M⁸/K⁴),     ‖w‖₁ ≤ √s, M⁴ the fourth moment of x_j and y.

Corrections, Theorem 7. (i) The proof has ‖w‖₁ = 1 (Lemma 8 is about the ℓ1 ball), and then loses another s between
s·M²/K⁴ and its value at K. With the printed K the bias term is s³·T·M⁴/(γnε), not s·T·M⁴/(nε), and the exponent 2 of
s* is lost: the bias is really there (a test has the distribution). `repaired_thresholding_risk` has the best K for
‖w‖₁ = √s, which gives s*^(5/2). (ii) Units: M·γ⁴/μ⁷ is not homogeneous, M·γ⁵/μ⁶ is; one 1/μ appears from nowhere in
the last display, one γ² with (72). Both agree at γ = μ = 1. (iii) "‖w¹ − w*‖ ≤ O(γ/μ)" is the wrong way round, the
proof has ‖w¹ − w*‖² ≤ μ/(2γ), and 1/2 + 1/2 ≤ 1 needs μ/(8γ). (iv) Contractions 1 − 5μ/(72γ) here and 1 − μ/(12γ) in
Theorem 8 are both better than the 1 − μ/(24γ) − 2s*/(s + s*) of (70). (v) Lemma 15 and the union bounds have logarithms
of k, s or Ts where the maximum of d Laplace variables has ln d.

Corrections, Theorem 8. (vi) The scale must have √s and no more: the proof's k has s in the place of √s, the theorem's
k = √(nετ) no s at all, and both give s² for s^(3/2). (vii) "2r/μ_r" in T and s, as printed in our text, is γ_r/μ_r.
(viii) Line 4 of Algorithm 5 takes the gradient at w^(t−1), line 6 steps from w^t. (ix) Assumption 4 asks for a second
moment of the gradient at every sparse w; the gradients of its examples, means and ridge penalties, are unbounded there.
"""

import math
from functools import partial

from tailguard._validate import integer
from tailguard.theory.rate import Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = [
    "RATES",
    "catoni_thresholding_risk",
    "catoni_thresholding_scale",
    "kept",
    "repaired_thresholding_risk",
    "repaired_thresholding_threshold",
    "shrunken_thresholding_risk",
    "shrunken_thresholding_threshold",
    "thresholding_step",
    "thresholding_steps",
]


def kept(setting: Setting) -> int:
    """Return s = 72·(γ/μ)²·s* of Theorems 7 and 8, rounded up, at most d: the number of entries that peeling keeps."""
    return min(setting.d, math.ceil(72.0 * setting.condition**2 * setting.sparsity))


def thresholding_steps(setting: Setting) -> int:
    """Return T = (γ/μ)·ln n of Theorems 7 and 8, rounded up; at least 1, at most n. The hidden constant is 1."""
    return min(setting.n, max(1, math.ceil(setting.condition * math.log(setting.n))))


def thresholding_step(setting: Setting) -> float:
    """Return the step length 2/(3γ) of Theorems 7 and 8, for the gradient x·(⟨x, w⟩ − y) of half the squared loss."""
    return 2.0 / (3.0 * setting.smoothness)


def shrunken_thresholding_threshold(setting: Setting, kept: int | None = None, steps: int | None = None) -> float:
    """Return K = M·(nε/(sT))^(1/4) of Theorem 7, which has M = 1.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 4, bound; and smoothness, convexity, sparsity for s and T.
    kept, steps : int or None
        s and T; None takes `kept` and `thresholding_steps`.
    """
    _check(setting, "shrunken_thresholding_threshold", 4.0)
    s, T = _sizes(setting, kept, steps, "shrunken_thresholding_threshold")
    return float(setting.bound * (setting.n * setting.epsilon / (s * T)) ** 0.25)


def shrunken_thresholding_risk(setting: Setting) -> float:
    """Return the rate of Theorem 7: M⁴·γ⁵/μ⁶·s*²·ln n·ln²(d/ζ)·ln(1/δ)/(nε), ζ = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 4, bound, failure, smoothness γ = λ_max(E xxᵀ), convexity
        μ = λ_min(E xxᵀ), sparsity. The moment is that of the coordinates of x and of y. The hidden constant is 1.

    Returns
    -------
    float
        An excess risk that Algorithm 3 would exceed with probability at most `failure`, if its proof were right.

    Notes
    -----
    *Accuracy.* Linear model, ‖w*‖₂ ≤ 1/2, a start near w*, n large. What is wrong: see the module.
    """
    _check(setting, "shrunken_thresholding_risk", 4.0)
    logs = math.log(setting.n) * math.log(setting.d / setting.failure) ** 2 * math.log(1.0 / setting.delta)
    size = setting.bound**4 * setting.condition**5 / setting.convexity * setting.sparsity**2
    return float(size * logs / (setting.n * setting.epsilon))


def repaired_thresholding_threshold(setting: Setting, kept: int | None = None, steps: int | None = None) -> float:
    """Return K = M·(nε/(√s·T·√ln(1/δ)·ln(dT/ζ)))^(1/4), the best one for Theorem 7 with ‖w‖₁ ≤ √s.

    Parameters
    ----------
    setting : Setting
        As in `shrunken_thresholding_threshold`.
    kept, steps : int or None
        As in `shrunken_thresholding_threshold`.
    """
    _check(setting, "repaired_thresholding_threshold", 4.0)
    return setting.bound * math.sqrt(_reach(setting, kept, steps, "repaired_thresholding_threshold"))


def repaired_thresholding_risk(setting: Setting) -> float:
    """Return Theorem 7 repaired: M⁴·γ⁶/μ⁷·s*^(5/2)·ln n·ln(d/ζ)·√ln(1/δ)/(nε), ζ = failure.

    Parameters
    ----------
    setting : Setting
        As in `shrunken_thresholding_risk`.

    Returns
    -------
    float
        An excess risk that Algorithm 3 with `repaired_thresholding_threshold` exceeds with probability at most
        `failure`, up to a constant.
    """
    _check(setting, "repaired_thresholding_risk", 4.0)
    size = setting.bound**4 * setting.condition**6 / setting.convexity * setting.sparsity**2.5
    return float(size * _logs(setting) / (setting.n * setting.epsilon))


def catoni_thresholding_scale(setting: Setting, kept: int | None = None, steps: int | None = None) -> float:
    """Return k = M·√(nε/(√s·T·√ln(1/δ)·ln(dT/ζ))), with which the proof of Theorem 8 ends at the theorem.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 2, bound, failure; and smoothness, convexity, sparsity for s and T.
    kept, steps : int or None
        s and T; None takes `kept` and `thresholding_steps`.
    """
    _check(setting, "catoni_thresholding_scale", 2.0)
    return setting.bound * _reach(setting, kept, steps, "catoni_thresholding_scale")


def catoni_thresholding_risk(setting: Setting) -> float:
    """Return the rate of Theorem 8: M²·γ⁴/μ⁵·s*^(3/2)·ln n·ln(d/ζ)·√ln(1/δ)/(nε), ζ = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, delta, order ≥ 2, bound, failure, smoothness γ, convexity μ, sparsity. The hidden
        constant is 1.

    Returns
    -------
    float
        An excess risk that Algorithm 5 exceeds with probability at most `failure`.

    Notes
    -----
    *Accuracy.* Assumption 4: restricted strong convexity and smoothness, E(∂_j ℓ)² ≤ M² at every s-sparse point
    (τ = M²). The same as Theorem 10 of Tao et al. 2022 at p = 2.
    """
    _check(setting, "catoni_thresholding_risk", 2.0)
    size = setting.bound**2 * setting.condition**4 / setting.convexity * setting.sparsity**1.5
    return float(size * _logs(setting) / (setting.n * setting.epsilon))


def _check(setting: Setting, owner: str, order: float) -> None:
    setting.check(owner, least_order=order, most_epsilon=1.0, approximate=True)


def _sizes(setting: Setting, s: int | None, T: int | None, owner: str) -> tuple[int, int]:
    return (
        kept(setting) if s is None else integer("kept", s, owner, at_most=setting.d),
        thresholding_steps(setting) if T is None else integer("steps", T, owner, at_most=setting.n),
    )


def _reach(setting: Setting, kept: int | None, steps: int | None, owner: str) -> float:
    """Return √(nε/(√s·T·√ln(1/δ)·ln(dT/ζ)))."""
    s, T = _sizes(setting, kept, steps, owner)
    logs = math.sqrt(math.log(1.0 / setting.delta)) * math.log(setting.d * T / setting.failure)
    return math.sqrt(setting.n * setting.epsilon / (math.sqrt(s) * T * logs))


def _logs(setting: Setting) -> float:
    """Return ln n·ln(d/ζ)·√ln(1/δ)."""
    logs = math.log(setting.n) * math.log(setting.d / setting.failure)
    return logs * math.sqrt(math.log(1.0 / setting.delta))


_rate = partial(
    Rate,
    kind="upper",
    task="sparse",
    privacy="approximate",
    moment="data",
    orders=(4.0, math.inf),
    explicit=False,
    exponent_n=Exponent(-1),
    exponent_d=Exponent(),
    exponent_epsilon=Exponent(-1),
)

RATES = (
    _rate(
        name="shrunken thresholding",
        paper="Hu et al. 2022",
        statement="Theorem 7",
        formula="M⁴·γ⁵/μ⁶·s²·ln n·ln²(d/β)·ln(1/δ)/(nε)",
        function=shrunken_thresholding_risk,
        caveat="The proof has ‖w‖₁ ≤ 1 for ‖w‖₁ ≤ √s and loses a factor s: with its K the bias is s³/(nε).",
    ),
    _rate(
        name="shrunken thresholding, repaired",
        paper="tailguard, after Hu et al. 2022",
        statement="Theorem 7 with ‖w‖₁ ≤ √s",
        formula="M⁴·γ⁶/μ⁷·s^(5/2)·ln n·ln(d/β)·√ln(1/δ)/(nε)",
        function=repaired_thresholding_risk,
    ),
    _rate(
        name="Catoni thresholding",
        paper="Hu et al. 2022",
        statement="Theorem 8",
        moment="coordinate",
        orders=(2.0, math.inf),
        formula="M²·γ⁴/μ⁵·s^(3/2)·ln n·ln(d/β)·√ln(1/δ)/(nε)",
        function=catoni_thresholding_risk,
        caveat="The printed scales k give s² for s^(3/2); k² = M²nε/(√s·T·√ln(1/δ)·ln(dT/β)) gives it.",
    ),
)
