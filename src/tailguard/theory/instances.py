"""Hard instances: the distributions behind the lower bounds, as generators of data with exact means and moments.

They are the honest test of optimality: on them the error of a good algorithm divided by the lower bound stays flat as n
grows. A sample is an array of n rows and d columns. Randomness comes from the generator that is passed in.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import choice, integer, real, refuse
from tailguard.theory.packing import Uniforms
from tailguard.theory.setting import Setting

__all__ = ["BiasedSigns", "Instance", "Packing", "PointMass", "TwoPoint"]

Of = Literal["coordinate", "direction", "norm"]
_OF = ("coordinate", "direction", "norm")
Array = NDArray[np.float64]


class Instance(ABC):
    """A distribution on R^d with known mean and moments."""

    @property
    @abstractmethod
    def mean(self) -> Array:
        """The exact mean, d numbers."""

    @abstractmethod
    def moment(self, order: float, of: Of = "coordinate") -> float:
        """Return the exact absolute moment: the largest E|x_j|^r, the largest E|⟨u, x⟩|^r for ‖u‖ = 1, or E‖x‖^r."""

    @abstractmethod
    def sample(self, n: int, generator: Uniforms) -> Array:
        """Return n independent draws, one a row."""


@dataclass(frozen=True)
class PointMass(Instance):
    """Always 0 in R^d: what the other instances are to be told apart from.

    Parameters
    ----------
    d : int
        The dimension.
    """

    d: int = 1

    @property
    def mean(self) -> Array:
        """Zero."""
        return np.zeros(self.d)

    def moment(self, order: float, of: Of = "coordinate") -> float:
        """Zero."""
        _check_moment(order, of)
        return 0.0

    def sample(self, n: int, generator: Uniforms) -> Array:  # noqa: ARG002 - nothing is random
        """Return n rows of zeros."""
        return np.zeros((integer("n", n, "sample"), self.d))


@dataclass(frozen=True)
class Packing(Instance):
    """0 with probability 1 − q, and height·θ with probability q, for a codeword θ (Tao et al. 2022, Lemma 21).

    The height is such that the assumption holds with equality: M·q^(−1/p) for the moments of coordinates, and that
    divided by ‖θ‖ for the moments of directions or of the norm, which are the same here.

    Parameters
    ----------
    codeword : tuple of int
        θ, with entries −1, 0 and 1, not all 0. Lemma 21 takes weight d/2 from {0, 1}^d, Theorem 11 weight s from
        {−1, 0, 1}^d; `random_code` makes them.
    probability : float
        q in (0, 1].
    order, bound : float
        The assumption E|·|^p ≤ M^p that it meets exactly.
    of : {"coordinate", "direction", "norm"}
        Whose moment that is.

    Examples
    --------
    >>> instance = Packing((0, 1, 0, 1), probability=0.25, order=2.0, bound=3.0)
    >>> instance.height, instance.mean.tolist(), instance.moment(2.0)
    (6.0, [0.0, 1.5, 0.0, 1.5], 9.0)
    """

    codeword: tuple[int, ...]
    probability: float
    order: float = 2.0
    bound: float = 1.0
    of: Of = "coordinate"

    def __post_init__(self) -> None:
        if not any(self.codeword) or not set(self.codeword) <= {-1, 0, 1}:
            raise refuse("codeword", "Packing", "of entries −1, 0 and 1, not all of them 0", self.codeword)
        _check_spike("Packing", self.probability, self.order, self.bound)
        choice("of", self.of, "Packing", _OF)

    @classmethod
    def hardest(cls, setting: Setting, codeword: tuple[int, ...], of: Of = "coordinate") -> "Packing":
        """Return the instance of Lemma 21: q = D/(nε), D = d for δ = 0 and else min(d, √(d·ln(1/δ))), at most 1."""
        return cls._hardest(setting, codeword, float(setting.d), of)

    @classmethod
    def hardest_sparse(cls, setting: Setting, codeword: tuple[int, ...], of: Of = "coordinate") -> "Packing":
        """Return the instance of Theorem 11: the same with s·ln d in the place of d, s the weight of the codeword."""
        return cls._hardest(setting, codeword, sum(map(abs, codeword)) * math.log(setting.d), of)

    @classmethod
    def _hardest(cls, setting: Setting, codeword: tuple[int, ...], size: float, of: Of) -> "Packing":
        if len(codeword) != setting.d:
            raise refuse("codeword", "Packing.hardest", f"of length d = {setting.d}", codeword)
        if setting.delta > 0.0:
            size = min(size, math.sqrt(size * math.log(1.0 / setting.delta)))
        return cls(codeword, min(1.0, size / (setting.n * setting.epsilon)), setting.order, setting.bound, of)

    @property
    def height(self) -> float:
        """The size of a non-zero entry."""
        height = self.bound * self.probability ** (-1.0 / self.order)
        return float(height if self.of == "coordinate" else height / self._length)

    @property
    def mean(self) -> Array:
        """q·height·θ."""
        return self.probability * self.height * np.array(self.codeword, dtype=np.float64)

    def moment(self, order: float, of: Of = "coordinate") -> float:
        """Return q·height^r, times ‖θ‖^r for directions and norms: the hardest direction is θ's own."""
        _check_moment(order, of)
        size = self.height if of == "coordinate" else self.height * self._length
        return float(self.probability * size**order)

    def sample(self, n: int, generator: Uniforms) -> Array:
        """Return n draws."""
        hit = generator.random(integer("n", n, "sample")) < self.probability
        return np.outer(hit, self.height * np.array(self.codeword, dtype=np.float64))

    def total_variation(self, other: "Packing | PointMass") -> float:
        """Return the total variation distance: q to the point 0 and to another codeword with the same q."""
        if isinstance(other, PointMass):
            return self.probability
        if self.codeword == other.codeword and self.height == other.height:
            return abs(self.probability - other.probability)
        return max(self.probability, other.probability)

    @property
    def _length(self) -> float:
        return math.sqrt(sum(abs(entry) for entry in self.codeword))


@dataclass(frozen=True)
class TwoPoint(Instance):
    """0 with probability 1 − q, and τ = (u/q)^(1/(1+v)) with probability q (Tao et al. 2022, Lemma 16).

    Parameters
    ----------
    order, bound : float
        p = 1 + v and M = u^(1/p): the moment of order p is exactly M^p.
    probability : float
        q in (0, 1].

    Examples
    --------
    >>> instance = TwoPoint(order=2.0, bound=1.0, probability=0.01)
    >>> instance.height, instance.mean.tolist(), instance.total_variation
    (10.0, [0.1], 0.01)
    """

    order: float
    bound: float
    probability: float

    def __post_init__(self) -> None:
        _check_spike("TwoPoint", self.probability, self.order, self.bound)

    @classmethod
    def hardest(cls, setting: Setting) -> "TwoPoint":
        """Return the instance with the proof's q = min(1, 1/(nε))."""
        return cls(setting.order, setting.bound, min(1.0, 1.0 / (setting.n * setting.epsilon)))

    @property
    def partner(self) -> PointMass:
        """The one-point distribution that it is hard to tell from."""
        return PointMass(1)

    @property
    def height(self) -> float:
        """τ."""
        return self._packing.height

    @property
    def total_variation(self) -> float:
        """Distance to the partner: q."""
        return self._packing.total_variation(self.partner)

    @property
    def mean(self) -> Array:
        """q·τ = M·q^κ."""
        return self._packing.mean

    def moment(self, order: float, of: Of = "coordinate") -> float:
        """Return q·τ^r."""
        return self._packing.moment(order, of)

    def sample(self, n: int, generator: Uniforms) -> Array:
        """Return n draws."""
        return self._packing.sample(n, generator)

    @property
    def _packing(self) -> Packing:
        return Packing((1,), self.probability, self.order, self.bound)


@dataclass(frozen=True)
class BiasedSigns(Instance):
    """Independent coordinates ±M, each with mean bias·M·θ_j: what makes the sampling term √(d/n) unavoidable.

    Moments of every order are bounded by M, so that nothing but the number of records limits the accuracy.

    Parameters
    ----------
    codeword : tuple of int
        θ, with entries −1 and 1.
    bias : float
        In (0, 1].
    bound : float
        M.
    """

    codeword: tuple[int, ...]
    bias: float
    bound: float = 1.0

    def __post_init__(self) -> None:
        if not self.codeword or not set(self.codeword) <= {-1, 1}:
            raise refuse("codeword", "BiasedSigns", "of entries −1 and 1", self.codeword)
        real("bias", self.bias, "BiasedSigns", above=0.0, at_most=1.0)
        real("bound", self.bound, "BiasedSigns", above=0.0)

    @classmethod
    def hardest(cls, setting: Setting, codeword: tuple[int, ...]) -> "BiasedSigns":
        """Return the instance with bias 1/(2√n): by Pinsker's inequality n records do not reveal a sign.

        Two opposite signs have a Kullback–Leibler divergence of b·ln((1+b)/(1−b)) ≈ 2b² a record.
        """
        if len(codeword) != setting.d:
            raise refuse("codeword", "BiasedSigns.hardest", f"of length d = {setting.d}", codeword)
        return cls(codeword, 0.5 / math.sqrt(setting.n), setting.bound)

    @property
    def mean(self) -> Array:
        """bias·M·θ."""
        return self.bias * self.bound * np.array(self.codeword, dtype=np.float64)

    def moment(self, order: float, of: Of = "coordinate") -> float:
        """Return M^r, or (M√d)^r for the norm; of directions, the second: M²·(1 + (d − 1)·bias²)."""
        _check_moment(order, of)
        d = len(self.codeword)
        if of == "direction" and d > 1:
            if order != 2.0:
                raise refuse("order", "moment of a direction", "2", order)
            return float(self.bound**2 * (1.0 + (d - 1) * self.bias**2))
        return float((self.bound * (math.sqrt(d) if of == "norm" else 1.0)) ** order)

    def sample(self, n: int, generator: Uniforms) -> Array:
        """Return n draws."""
        shape = (integer("n", n, "sample"), len(self.codeword))
        signs = np.where(generator.random(shape) < 0.5 * (1.0 + self.bias), 1.0, -1.0)
        return self.bound * signs * np.array(self.codeword, dtype=np.float64)


def _check_spike(owner: str, probability: float, order: float, bound: float) -> None:
    real("probability", probability, owner, above=0.0, at_most=1.0)
    real("order", order, owner, above=1.0)
    real("bound", bound, owner, above=0.0)


def _check_moment(order: float, of: str) -> None:
    real("order", order, "moment", above=0.0)
    choice("of", of, "moment", _OF)
