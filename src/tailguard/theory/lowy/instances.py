"""The two hard families of Lowy 2026, appendix G, as generators of data.

Both are used with the linear loss f(w, z) = ⟨z, w⟩ over the ball of diameter D, whose excess risk is exact:
`linear_excess`. `bounded_pair` makes the sampling term unavoidable, `spiked_packing` the private one.
"""

import math
from dataclasses import dataclass

import numpy as np

from tailguard._validate import choice, integer, real, refuse
from tailguard.theory.instances import Array, Instance, Of, Packing
from tailguard.theory.packing import Uniforms, random_code
from tailguard.theory.setting import Setting

__all__ = [
    "GROWTH",
    "AxisSign",
    "bounded_pair",
    "linear_excess",
    "log_code_size",
    "sign_bias",
    "spike_probability",
    "spiked_packing",
]

GROWTH = math.log(2.0) + 0.25 * math.log(0.25) + 0.75 * math.log(0.75)
"""ln|V| ≥ GROWTH·d for signs z in {−1, 1}^d that differ in at least d/4 places: z/√d are at least 1 apart."""

STEEPEST = 2.0 * math.log(3.0)
"""ρ·ln((1 + ρ)/(1 − ρ)) ≤ STEEPEST·ρ² for ρ ≤ 1/2, with equality there."""


@dataclass(frozen=True)
class AxisSign(Instance):
    """±G·e_1 with mean bias·G·e_1: the family P^bdd(G_2), one distribution for each bias.

    Parameters
    ----------
    d : int
        The dimension.
    bias : float
        Between −1 and 1; P₊ and P₋ of Proposition G.2 have ±ρ.
    bound : float
        G: ‖z‖ = G always, so that all moments of the norm are the same.
    """

    d: int
    bias: float
    bound: float = 1.0

    def __post_init__(self) -> None:
        integer("d", self.d, "AxisSign")
        real("bias", self.bias, "AxisSign", at_least=-1.0, at_most=1.0)
        real("bound", self.bound, "AxisSign", above=0.0)

    @property
    def mean(self) -> Array:
        """bias·G·e_1."""
        return np.asarray(self.bias * self.bound * np.eye(self.d)[0])

    def moment(self, order: float, of: Of = "coordinate") -> float:
        """Return G^r, whatever has the moment: the first axis is the hardest coordinate and direction."""
        real("order", order, "moment", above=0.0)
        choice("of", of, "moment", ("coordinate", "direction", "norm"))
        return float(self.bound**order)

    def sample(self, n: int, generator: Uniforms) -> Array:
        """Return n draws."""
        signs = np.where(generator.random(integer("n", n, "sample")) < 0.5 * (1.0 + self.bias), 1.0, -1.0)
        return np.outer(signs, self.bound * np.eye(self.d)[0])


def sign_bias(setting: Setting) -> float:
    """Return ρ = min(1/2, √(ln(1/(4ζ(1 − ζ)))/(2n·ln 3))), ζ = failure < 1/2.

    With it no test of n signs errs with a probability below ζ on both of P₊ and P₋ (lower.md).
    """
    zeta = _probability(setting, "sign_bias")
    return min(0.5, math.sqrt(-math.log(4.0 * zeta * (1.0 - zeta)) / (STEEPEST * setting.n)))


def bounded_pair(setting: Setting, second: float | None = None) -> tuple[AxisSign, AxisSign]:
    """Return P₊ and P₋ of Proposition G.2 with ρ = `sign_bias`.

    Parameters
    ----------
    setting : Setting
        Uses n, d, bound, failure.
    second : float or None
        G_2, at most G_k; None takes `bound`.
    """
    size = setting.bound if second is None else real("second", second, "bounded_pair", above=0.0, at_most=setting.bound)
    bias = sign_bias(setting)
    return AxisSign(setting.d, bias, size), AxisSign(setting.d, -bias, size)


def log_code_size(setting: Setting) -> float:
    """Return ln|V| = max(ln 2, GROWTH·d): so many signs in {−1, 1}^d differ in at least d/4 places."""
    return max(math.log(2.0), GROWTH * setting.d)


def spike_probability(setting: Setting, log_size: float) -> float:
    """Return q = min(1, ((1 − ζ)/(nε))·ln((|V| − 1)(1 − ζ)/ζ)), ζ = failure < 1/2.

    With it every ε-DP algorithm confuses one of |V| distributions with probability at least ζ (lower.md). The q of
    Proposition G.4 has (|V| − 1)/(4eζ) in the logarithm, which is negative at d = 1 and ζ > 1/(4e), and needs ε ≤ 1.

    Parameters
    ----------
    setting : Setting
        Uses n, epsilon, failure.
    log_size : float
        ln|V| ≥ ln 2.
    """
    zeta = _probability(setting, "spike_probability")
    size = real("log_size", log_size, "spike_probability", at_least=math.log(2.0) * (1.0 - 1e-12))
    others = size + math.log(-math.expm1(-size))
    cost = (1.0 - zeta) * (others + math.log((1.0 - zeta) / zeta))
    return float(min(1.0, cost / (setting.n * setting.epsilon)))


def spiked_packing(setting: Setting, generator: Uniforms, size: int = 2) -> tuple[Packing, ...]:
    """Return `size` distributions of the family P^pack, along random signs that differ in at least d/4 places.

    Each is 0 with probability 1 − q and G_k·q^(−1/k)·ν with probability q = `spike_probability`, ν = z/√d. The paper
    packs the ball; its Lemma G.1 needs means of equal length, so here they lie on the sphere.

    Parameters
    ----------
    setting : Setting
        Uses n, d, epsilon, order, bound, failure.
    generator : Uniforms
        The source of randomness; equal generators make equal families.
    size : int
        Number of words. The probability is that of a family of |V| = exp(`log_code_size`) of them; 2 words are opposite
        to each other and have the probability of a pair.
    """
    if integer("size", size, "spiked_packing", at_least=2) == 2:
        (word,) = random_code(setting.d, 1, generator, weight=setting.d, distance=1, signed=True)
        words, log_size = np.stack([word, -word]), math.log(2.0)
    else:
        log_size = log_code_size(setting)
        far = math.ceil(setting.d / 4)
        words = random_code(setting.d, size, generator, weight=setting.d, distance=far, signed=True)
    q = spike_probability(setting, log_size)
    return tuple(Packing(tuple(word), q, setting.order, setting.bound, "norm") for word in words.tolist())


def linear_excess(instance: Instance, answers: Array, diameter: float) -> Array:
    """Return the exact excess risk ⟨μ, w⟩ + (D/2)·‖μ‖ of every row w of `answers`, for the loss ⟨z, w⟩."""
    points = np.atleast_2d(np.asarray(answers, dtype=np.float64))
    if points.shape[1] != instance.mean.size:
        raise refuse("answers", "linear_excess", f"of {instance.mean.size} columns", points.shape)
    radius = 0.5 * real("diameter", diameter, "linear_excess", above=0.0)
    return np.asarray(points @ instance.mean + radius * np.linalg.norm(instance.mean))


def _probability(setting: Setting, owner: str) -> float:
    return real("failure", setting.failure, owner, above=0.0, below=0.5)
