"""Hu et al. 2022, Theorem 9 with Lemmas 3 and 11: what no private estimator of a sparse mean can beat.

The instances are 0 with probability 1 − q and a spike with probability q, along the words z of a code: s non-zero
entries ±1, any two words different in at least s/2 places. `sparse_packing` draws them.

Corrections. (i) Lemma 3 needs half of the separation: balls of radius ρ* around the parameters overlap, and an
estimator that ignores the data and answers their midpoint is within ρ* of two of them always. (ii) The words scaled by
1/√(2s) are at least 1/2 apart, not √2: two vectors of length 1/√2 are at most √2 apart. With (i) the constant 1/4 of
the last display is 1/128. (iii) They need not be scaled: with entries ±1 every coordinate has the second moment τ,
which is all that is asked, and the bound gains the factor s. `sharp_sparse_mean_lower` has it, and
`explicit_sparse_mean_lower` the constant s/64. At ln(1/δ) = s*·ln d the gap of √s* to Theorem 8 that the paper leaves
open closes up to logarithms; for ln(1/δ) below, √(s*/ln(1/δ)) remains. (iv) (|V| − 1)·e^(−ε(nq+1)) ≥ 1, used for the
1/8, needs ln(|V| − 1) for ln|V| in q. (v) q needs a cap at 1. (vi) (11) has ln(1/δ) for ln((1 − e^(−ε))/(4δe^ε)), about
ln(ε/δ): the same order only for δ ≤ ε^(1+c). (vii) "min L = 0" for E‖x − w‖²: it is the variance; the excess risk is as
stated.
"""

import math
from functools import partial

from tailguard._validate import real
from tailguard.theory.instances import Packing
from tailguard.theory.packing import Uniforms, random_code
from tailguard.theory.rate import Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = [
    "RATES",
    "error_probability",
    "explicit_sparse_mean_lower",
    "log_code_size",
    "sharp_sparse_mean_lower",
    "sparse_mean_lower",
    "sparse_packing",
    "sparse_probability",
]


def log_code_size(setting: Setting) -> float:
    """Return ln|V| = (s/2)·ln((d − s)/(s/2)) of Lemma 11, at least 0: so many words of weight s can be far apart.

    Parameters
    ----------
    setting : Setting
        Uses d and sparsity.

    Notes
    -----
    Raskutti, Wainwright and Yu 2011. Counting (`gilbert_varshamov` with distance ⌈s/2⌉ and signs) gives more for every
    s < d < 80.
    """
    s, d = setting.sparsity, setting.d
    return max(0.0, 0.5 * s * math.log(2.0 * (d - s) / s)) if s < d else 0.0


def error_probability(setting: Setting, log_size: float, probability: float) -> float:
    """Return (10) without Φ: how often every (ε, δ)-DP estimator misses half of the separation, on average over V.

    (|V| − 1)·(e^(−εk)/2 − δ(1 − e^(−εk))/(1 − e^(−ε)))/(1 + (|V| − 1)·e^(−εk)) with k = ⌈nq⌉, at least 0.

    Parameters
    ----------
    setting : Setting
        Uses n, epsilon, delta (0 is pure).
    log_size : float
        ln|V|, of any code.
    probability : float
        q, with which a record is not 0.

    Notes
    -----
    Proof. A binomial K is at most ⌈nq⌉ with probability 1/2 or more, and then k changed records turn data of one word
    into data of another. The events "the answer is nearer than half of the separation to v" are disjoint.
    """
    real("log_size", log_size, "error_probability", at_least=0.0)
    q = real("probability", probability, "error_probability", at_least=0.0, at_most=1.0)
    cost = setting.epsilon * math.ceil(setting.n * q)
    slack = 0.0
    if setting.delta > 0.0:  # beyond e^cost = 1/δ nothing is left anyway
        steps = math.expm1(-cost) / math.expm1(-setting.epsilon)
        slack = steps * math.exp(min(0.0, math.log(setting.delta) + cost))
    missed = 0.5 - 0.5 * math.tanh(0.5 * (cost - _others(log_size))) if log_size > 0.0 else 0.0
    return max(0.0, (0.5 - slack) * missed)


def sparse_probability(setting: Setting) -> float:
    """Return the proof's q = min{ln(|V| − 1), ln((1 − e^(−ε))/(4δ))}/(nε) − 1/n, at least 0 and at most 1.

    With it `error_probability` is at least 1/8.
    """
    size = log_code_size(setting)
    if size <= math.log(2.0):
        return 0.0
    cost = _others(size)
    if setting.delta > 0.0:
        cost = min(cost, math.log(-math.expm1(-setting.epsilon) / (4.0 * setting.delta)))
    return min(1.0, max(0.0, cost / setting.epsilon - 1.0) / setting.n)


def sparse_packing(setting: Setting, generator: Uniforms, size: int = 1) -> tuple[Packing, ...]:
    """Return instances of Theorem 9, one for each of `size` words of a random code, all with the proof's q.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, delta, order, bound, sparsity.
    generator : Uniforms
        The source of randomness; equal generators make equal codes.
    size : int
        Number of words, at most about `log_code_size` for random draws to find them.

    Returns
    -------
    tuple of Packing
        Distributions with s*-sparse means M·q^κ·z that are at least M·q^κ·√(s/2) apart, and E|x_j|^p = M^p for the
        coordinates in the support of z.

    Raises
    ------
    ParameterError
        If q is 0: the code is too small or δ too large for a bound.
    """
    q = real("probability", sparse_probability(setting), "sparse_packing", above=0.0)
    s = setting.sparsity
    code = random_code(setting.d, size, generator, weight=s, distance=math.ceil(s / 2), signed=True)
    return tuple(Packing(tuple(word), q, setting.order, setting.bound) for word in code.tolist())


def sparse_mean_lower(setting: Setting) -> float:
    """Return the rate of Theorem 9, (11), for moments of any order: M²·min(1, min{s·ln d, ln(1/δ)}/(nε))^(2κ).

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, delta (0 is pure), order, bound, sparsity. The hidden constant is 1.

    Returns
    -------
    float
        An expected squared ℓ2 error that every (ε, δ)-DP estimator of a sparse mean has; at p = 2 the paper's.
    """
    complexity = setting.sparsity * math.log(setting.d)
    if setting.delta > 0.0:
        complexity = min(complexity, math.log(1.0 / setting.delta))
    return (setting.bound * min(1.0, setting.private(complexity))) ** 2


def sharp_sparse_mean_lower(setting: Setting) -> float:
    """Return s times (11): M²·s·min(1, min{s·ln d, ln(1/δ)}/(nε))^(2κ), from words that are not scaled.

    Parameters
    ----------
    setting : Setting
        As in `sparse_mean_lower`.
    """
    return setting.sparsity * sparse_mean_lower(setting)


def explicit_sparse_mean_lower(setting: Setting) -> float:
    """Return Theorem 9 with its constant: M²·s·q^(2κ)/64 with q = `sparse_probability`.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, delta (0 is pure), order, bound, sparsity.

    Returns
    -------
    float
        An expected squared ℓ2 error that every (ε, δ)-DP estimator has on average over `sparse_packing`: in one case of
        eight it misses half of the separation M·q^κ·√(s/2).
    """
    spread = setting.bound * sparse_probability(setting) ** setting.power
    return float(setting.sparsity * spread**2 / 64.0)


def _others(log_size: float) -> float:
    """Return ln(|V| − 1)."""
    return log_size + math.log(-math.expm1(-log_size))


_rate = partial(
    Rate,
    kind="lower",
    task="sparse",
    privacy="approximate",
    moment="coordinate",
    orders=(1.0, math.inf),
    explicit=False,
    exponent_n=Exponent(0, -2),
    exponent_d=Exponent(),
    exponent_epsilon=Exponent(0, -2),
)

RATES = (
    _rate(
        name="sparse mean, lower bound",
        paper="Hu et al. 2022",
        statement="Theorem 9, (11)",
        formula="M²·(min{s·ln d, ln(1/δ)}/(nε))^(2κ)",
        function=sparse_mean_lower,
        caveat="A factor s too small; Lemma 3 needs half of the separation; ln(1/δ) stands for ln(ε/δ).",
    ),
    _rate(
        name="sparse mean, lower bound, words not scaled",
        paper="tailguard, after Hu et al. 2022",
        statement="Theorem 9",
        formula="M²·s·(min{s·ln d, ln(1/δ)}/(nε))^(2κ)",
        function=sharp_sparse_mean_lower,
    ),
    _rate(
        name="sparse packing",
        paper="tailguard, after Hu et al. 2022",
        statement="Theorem 9, (10)",
        explicit=True,
        formula="M²·s·q^(2κ)/64, ε(nq + 1) = min{ln(V − 1), ln((1 − e^(−ε))/(4δ))}, V = (2(d − s)/s)^(s/2)",
        function=explicit_sparse_mean_lower,
    ),
)
