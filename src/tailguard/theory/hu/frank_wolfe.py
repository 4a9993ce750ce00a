"""Hu et al. 2022, Theorems 2 and 3 and Corollary 1: Frank–Wolfe over a polytope, pure privacy (Algorithm 1).

Each step has its own block of n/T records, a Catoni mean of scale s of every coordinate of the gradient, and picks a
vertex by the exponential mechanism. With D = ‖W‖₁, Λ = ln(|V|·d·T/ζ) and second moments M² of the gradient's
coordinates, the proof of Theorem 2 ends at a sum of optimisation, bias and noise:

    α·D²/T + D·M²/s + D·s·T·Λ/(nε).

Corrections. (i) The paper has α·D in the first term: the curvature constant of Lemma 6 is at most α·D², not α·D. With
the right power, T and the risk are homogeneous; the printed risk is D·(…)^(1/3) and agrees at D = 1. (ii) (28) merges
the sampling term s·T·Λ/n into the noise, which needs ε ≤ 1; beyond, the error no longer falls with ε. (iii) (23) and
(24) have ln|V|·ln(T/ζ) where Lemma 1 has the sum of the two. (iv) The first step 2/3 of η_(t−1) = 2/(t + 2) is not the
1 that Lemma 6 starts with, and leaves 2/((T+1)(T+2)) of the error at the start. (v) The abstract's exponent 2/3 of nε
is 1/3 in the theorem, the introduction and the proof. (vi) The proof fails with probability 2ζ, the theorem says ζ.
"""

import math
from fractions import Fraction
from functools import partial

from tailguard._validate import integer
from tailguard.theory.rate import Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = [
    "RATES",
    "frank_wolfe_risk",
    "frank_wolfe_scale",
    "frank_wolfe_step",
    "frank_wolfe_steps",
    "lasso_corollary_risk",
    "robust_risk",
    "robust_scale",
    "robust_step",
    "robust_steps",
]


def frank_wolfe_steps(setting: Setting) -> int:
    """Return T = (nε·α²·D²/(M²·ln(|V|d/ζ)))^(1/3) of Theorem 2, ζ = failure, rounded down; at least 1, at most n.

    The paper has D = 1 here; see the module.
    """
    _check(setting, "frank_wolfe_steps")
    ratio = setting.smoothness * setting.diameter / setting.bound
    steps = (setting.n * setting.epsilon * ratio**2 / _logs(setting, _vertices(setting))) ** (1.0 / 3.0)
    return _whole(setting, steps)


def frank_wolfe_scale(setting: Setting, steps: int | None = None) -> float:
    """Return s = M·√(nε/(T·ln(|V|dT/ζ))) of Theorem 2, the scale of the Catoni means.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, order ≥ 2, bound, failure, vertices.
    steps : int or None
        T; None takes `frank_wolfe_steps`.
    """
    T = frank_wolfe_steps(setting) if steps is None else integer("steps", steps, "frank_wolfe_scale")
    _check(setting, "frank_wolfe_scale")
    logs = _logs(setting, _vertices(setting), T)
    return setting.bound * math.sqrt(setting.n * setting.epsilon / (T * logs))


def frank_wolfe_step(step: int) -> float:
    """Return η_(t−1) = 2/(t + 2) for t = 1, 2, …, of Theorems 2 and 5."""
    return 2.0 / (integer("step", step, "frank_wolfe_step") + 2.0)


def frank_wolfe_risk(setting: Setting) -> float:
    """Return the rate of Theorem 2, (6): D^(4/3)·(α·M²·ln(n|V|d/ζ)/(nε))^(1/3), ζ = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, order ≥ 2, bound, failure, diameter (of the ℓ1 norm), smoothness, vertices. The hidden
        constant is 1.

    Returns
    -------
    float
        An excess risk that Algorithm 1 exceeds with probability at most `failure`.

    Notes
    -----
    *Accuracy.* Assumption 1: the population risk is convex and α-smooth, and E(∂_j ℓ(w, z))² ≤ M² on W for every j
    (τ = M²). D^(4/3) for the printed D: see the module.
    """
    _check(setting, "frank_wolfe_risk")
    return _third(setting, _logs(setting, _vertices(setting), setting.n))


def lasso_corollary_risk(setting: Setting) -> float:
    """Return the rate of Corollary 1, (7): Theorem 2 for the squared loss on an ℓ1 ball, with ln(d/ζ)·ln n for the log.

    Parameters
    ----------
    setting : Setting
        As in `frank_wolfe_risk`, without vertices; smoothness is λ_max(E xxᵀ).

    Notes
    -----
    The paper's loss (⟨x, w⟩ − y)² is 2λ_max-smooth, not λ_max-smooth as it says; half of it, this library's, is. The
    product of logarithms is weaker than Theorem 2's ln(2nd²/ζ).
    """
    _check(setting, "lasso_corollary_risk")
    return _third(setting, _logs(setting) * math.log(setting.n))


def robust_steps(setting: Setting) -> int:
    """Return T = (αD/M)·√(nε/ln(d/ζ)) of Theorem 3, ζ = failure, rounded down; at least 1, at most n.

    The paper has αD/M = 1 here.
    """
    _check(setting, "robust_steps")
    ratio = setting.smoothness * setting.diameter / setting.bound
    return _whole(setting, ratio * math.sqrt(setting.n * setting.epsilon / _logs(setting)))


def robust_scale(setting: Setting, steps: int | None = None) -> float:
    """Return s = M·√(nε/(T·ln(dT/ζ))) of Theorem 3.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, order ≥ 2, bound, failure.
    steps : int or None
        T; None takes `robust_steps`.
    """
    T = robust_steps(setting) if steps is None else integer("steps", steps, "robust_scale")
    _check(setting, "robust_scale")
    return setting.bound * math.sqrt(setting.n * setting.epsilon / (T * _logs(setting, T)))


def robust_step(setting: Setting, steps: int | None = None) -> float:
    """Return the constant step η = 1/√T of Theorem 3; T is `robust_steps` if None."""
    T = robust_steps(setting) if steps is None else integer("steps", steps, "robust_step")
    return 1.0 / math.sqrt(T)


def robust_risk(setting: Setting) -> float:
    """Return the rate of Theorem 3, (8): √α·D^(3/2)·(M²·ln(dn/ζ)/(nε))^(1/4), ζ = failure.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon ≤ 1, order ≥ 2, bound, failure, diameter (of the ℓ1 norm), smoothness. The hidden constant
        and C_ψ/c_ψ are 1.

    Returns
    -------
    float
        An excess risk that Algorithm 1 with a constant step exceeds with probability at most `failure`, if Lemma 7
        holds.

    Notes
    -----
    *Accuracy.* M² bounds E(∂_j ℓ)² ≤ C_ψ²·E x_j², α = C_ψ·λ_max(E xxᵀ). The paper's T has no α, and its result the
    factor λ_max for √λ_max; both agree at α = D = M = 1.

    False as stated. Lemma 7 concludes h(u)/u ≥ c_ψ for all u from h(0) = 0 and h′(0) > c_ψ, which is a statement about
    u = 0. For a loss that levels off, as the biweight does, h(u)/u → 0: at d = 1 with x = ±10, no noise and c = 1,
    every gradient at distance more than 1/10 from w* is 0 while the excess risk is 1/6. What the proof needs is
    h(u)/u ≥ c_ψ on the range of ⟨w − w*, x⟩. And Assumption 2 wants ψ′ > 0 on (0, ∞), which the biweight, its one
    example, does not have.

    Loose where it holds. The proof uses (1 − η)^T ≤ 1/(ηT). With steps of the order 1/t, as in Theorem 2, the same
    recursion gives Theorem 2's rate (nε)^(−1/3).
    """
    _check(setting, "robust_risk")
    factor = setting.bound * math.sqrt(_logs(setting, setting.n) / (setting.n * setting.epsilon))
    return math.sqrt(setting.smoothness * setting.diameter**3 * factor)


def _check(setting: Setting, owner: str) -> None:
    setting.check(owner, least_order=2.0, most_epsilon=1.0)


def _vertices(setting: Setting) -> int:
    return 2 * setting.d if setting.vertices is None else setting.vertices


def _logs(setting: Setting, *factors: int) -> float:
    """Return ln(d·factors/ζ), as a sum: the product may overflow."""
    return math.log(setting.d) + sum(map(math.log, factors)) - math.log(setting.failure)


def _whole(setting: Setting, steps: float) -> int:
    return min(setting.n, max(1, math.floor(steps)))


def _third(setting: Setting, logs: float) -> float:
    factor = setting.smoothness * setting.bound**2 * logs / (setting.n * setting.epsilon)
    return float((setting.diameter**4 * factor) ** (1.0 / 3.0))


THIRD, QUARTER = Fraction(1, 3), Fraction(1, 4)

_rate = partial(
    Rate,
    paper="Hu et al. 2022",
    kind="upper",
    task="polytope",
    privacy="pure",
    moment="coordinate",
    orders=(2.0, math.inf),
    explicit=False,
    exponent_n=Exponent(-THIRD),
    exponent_d=Exponent(),
    exponent_epsilon=Exponent(-THIRD),
)

RATES = (
    _rate(
        name="Frank–Wolfe, convex",
        statement="Theorem 2, (6)",
        formula="D^(4/3)·(α·M²·ln(n·V·d/β)/(nε))^(1/3), V vertices",
        function=frank_wolfe_risk,
        caveat="The printed D is not homogeneous: the curvature is α·D², not α·D. The abstract has the exponent 2/3.",
    ),
    _rate(
        name="Frank–Wolfe, least squares",
        statement="Corollary 1, (7)",
        formula="D^(4/3)·(α·M²·ln(d/β)·ln n/(nε))^(1/3)",
        function=lasso_corollary_risk,
        caveat="(⟨x, w⟩ − y)² is 2λ_max-smooth, not λ_max-smooth.",
    ),
    _rate(
        name="Frank–Wolfe, robust regression",
        statement="Theorem 3, (8)",
        formula="√α·D^(3/2)·(M²·ln(dn/β)/(nε))^(1/4)",
        function=robust_risk,
        exponent_n=Exponent(-QUARTER),
        exponent_epsilon=Exponent(-QUARTER),
        caveat="Lemma 7 is false for losses that level off, the biweight among them; with it the exponent can be 1/3.",
    ),
)
