"""Every generator of the library is made here, and nowhere else.

`Exact` samples integers exactly, `Float` inverts distribution functions in floating point, `Simulation`
does the same from a seed and protects nobody. All of them can be pickled and forked: OpenDP's objects live
in a cache of the module, and private bits are fresh in every process.
"""

import os
from abc import ABC, abstractmethod
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtri

from tailguard._validate import choice, integer
from tailguard.mechanisms.base import FloatVector, IntVector, Randomness
from tailguard.mechanisms.grid import add

__all__ = ["DataGenerator", "Exact", "Float", "Simulation", "data_generator", "derived_seed", "make_randomness"]

DataGenerator: TypeAlias = np.random.Generator
"""What synthetic data are drawn from. It is passed in, and it is no source of noise: `Randomness` is."""


def make_randomness(random_state: int | None, numerics: Literal["exact", "float"] = "exact") -> Randomness:
    """Return the source of noise that a user asked for.

    Parameters
    ----------
    random_state : int or None
        None for private noise; an integer of at least 0 for a repeatable simulation that is *not private*.
    numerics : {"exact", "float"}, default="exact"
        How private noise is sampled: `Exact` or `Float`. A simulation is always sampled in floats.

    Examples
    --------
    >>> make_randomness(0).private
    False
    """
    choice("numerics", numerics, "make_randomness", ("exact", "float"))
    if random_state is not None:
        return Simulation(random_state)
    return Exact() if numerics == "exact" else Float()


def derived_seed(*path: int) -> int:
    """Return a seed for one part of a simulation, from the numbers that name the part.

    Parameters
    ----------
    *path : int
        The user's seed first, then whatever tells the parts apart; each of them at least 0.

    Returns
    -------
    int
        Between 0 and 2**63 − 1. Different paths have seeds that have nothing to do with each other.

    Examples
    --------
    >>> derived_seed(0, 1) == derived_seed(0, 1), derived_seed(0, 1) == derived_seed(0, 2)
    (True, False)
    """
    numbers = [integer("path", number, "derived_seed", at_least=0) for number in path]
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def data_generator(seed: int) -> DataGenerator:
    """Return a generator of synthetic data that can be repeated from a seed; never a source of noise.

    Parameters
    ----------
    seed : int
        At least 0.

    Examples
    --------
    >>> data_generator(3).random() == data_generator(3).random()
    True
    """
    return np.random.default_rng(integer("seed", seed, "data_generator", at_least=0))


class Exact:
    """OpenDP's samplers: discrete laws without rounding, bits from a cryptographic generator.

    *Guarantee.* Discrete Gaussian, discrete Laplace and Gumbel order of integers have exactly the laws that
    the proofs assume; sums saturate at the ends of int64. `uniform` numbers are floats and carry no such
    promise. How long `top` takes depends on the scores.

    Examples
    --------
    >>> Exact().gaussian(np.zeros(3, dtype=np.int64), 100.0).shape
    (3,)
    """

    label = "exact sampling of discrete noise by OpenDP from a cryptographic generator"
    private = True

    def gaussian(self, value: IntVector, scale: float) -> IntVector:
        """Return `value` plus independent discrete Gaussian noise of the given scale (σ)."""
        return _as_integers(gaussian_measurement(scale)(value.tolist()))

    def laplace(self, value: IntVector, scale: float) -> IntVector:
        """Return `value` plus independent discrete Laplace noise of the given scale."""
        return _as_integers(laplace_measurement(scale)(value.tolist()))

    def top(self, value: IntVector, scale: float, count: int) -> IntVector:
        """Return the indices of the `count` largest entries after Gumbel noise of this scale, best first."""
        return _as_integers(top_measurement(scale, count)(value.tolist()))

    def uniform(self, size: int) -> FloatVector:
        """Return uniform numbers in the open interval (0, 1), from the operating system's generator."""
        return _open_unit(os.urandom(8 * size))


class _Inverted(ABC):
    """Noise by inverting distribution functions at uniform floats, then rounding to the grid."""

    @abstractmethod
    def uniform(self, size: int) -> FloatVector:
        """Return uniform numbers in the open interval (0, 1)."""

    def gaussian(self, value: IntVector, scale: float) -> IntVector:
        """Return `value` plus independent Gaussian noise of the given scale (σ), rounded to the grid."""
        return add(value, scale * ndtri(self.uniform(value.size)))

    def laplace(self, value: IntVector, scale: float) -> IntVector:
        """Return `value` plus independent Laplace noise of the given scale, rounded to the grid."""
        u = self.uniform(value.size)
        return add(value, scale * np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u))))

    def top(self, value: IntVector, scale: float, count: int) -> IntVector:
        """Return the indices of the `count` largest entries after Gumbel noise of this scale, best first."""
        noise = -scale * np.log(-np.log(self.uniform(value.size)))
        # Whole steps are added as integers: a float could not tell 2**62 from 2**62 + 1.
        whole = np.floor(noise)
        ascending = np.lexsort((noise - whole, add(value, whole)))
        return ascending[::-1][:count].astype(np.int64)


class Float(_Inverted):
    """Floating-point noise from the operating system's cryptographic generator: fast, not exactly private.

    *Guarantee.* That of the proofs, as far as a float computed from 52 random bits follows its ideal law:
    tails end where 52 bits end (8.2 standard deviations, 36 Laplace scales), and large noise skips grid
    points.

    Examples
    --------
    >>> Float().laplace(np.zeros(3, dtype=np.int64), 100.0).dtype
    dtype('int64')
    """

    label = "floating-point sampling from the operating system's cryptographic generator"
    private = True

    def uniform(self, size: int) -> FloatVector:
        """Return uniform numbers in the open interval (0, 1)."""
        return _open_unit(os.urandom(8 * size))


class Simulation(_Inverted):
    """Noise that can be repeated from a seed, and therefore be subtracted again: it protects nobody.

    Parameters
    ----------
    seed : int
        At least 0. Each call advances the stream.

    Examples
    --------
    >>> Simulation(0).label
    'simulation from seed 0, NOT PRIVATE'
    """

    private = False

    def __init__(self, seed: int) -> None:
        self.seed = integer("random_state", seed, "a simulation", at_least=0)
        self._generator = np.random.default_rng(self.seed)

    @property
    def label(self) -> str:
        """How the noise is made, in words that are printed with every release."""
        return f"simulation from seed {self.seed}, NOT PRIVATE"

    def uniform(self, size: int) -> FloatVector:
        """Return uniform numbers in the open interval (0, 1)."""
        return _open_unit(self._generator.bytes(8 * size))


@lru_cache(maxsize=64)
def gaussian_measurement(scale: float) -> Any:
    """Return OpenDP's measurement of discrete Gaussian noise on integer vectors."""
    dp = _opendp()
    return dp.measurements.make_gaussian(dp.integers(), dp.metrics.l2_distance(T=float), scale=scale)


@lru_cache(maxsize=64)
def laplace_measurement(scale: float) -> Any:
    """Return OpenDP's measurement of discrete Laplace noise on integer vectors."""
    dp = _opendp()
    return dp.measurements.make_laplace(dp.integers(), dp.metrics.l1_distance(T=float), scale=scale)


@lru_cache(maxsize=64)
def top_measurement(scale: float, count: int) -> Any:
    """Return OpenDP's measurement of a Gumbel top-`count`; this divergence is what chooses Gumbel noise."""
    dp = _opendp()
    distance, measure = dp.metrics.linf_distance(T="i64"), dp.measures.zero_concentrated_divergence()
    return dp.measurements.make_noisy_top_k(dp.integers(), distance, measure, k=count, scale=scale)


class _OpenDP(NamedTuple):
    """The modules of OpenDP that are used, imported on first need."""

    domains: Any
    measurements: Any
    measures: Any
    metrics: Any

    def integers(self) -> Any:
        return self.domains.vector_domain(self.domains.atom_domain(T="i64"))


@cache
def _opendp() -> _OpenDP:
    # Not the prelude, which takes a second to import.
    from opendp import domains, measurements, measures, metrics
    from opendp.mod import enable_features

    enable_features("contrib")
    return _OpenDP(domains, measurements, measures, metrics)


def _as_integers(released: list[int]) -> IntVector:
    return np.array(released, dtype=np.int64)


def _open_unit(raw: bytes) -> FloatVector:
    """Return (k + ½)/2**52 for the upper 52 bits k of each eight bytes: exact floats, never 0 or 1."""
    upper = np.frombuffer(raw, dtype="<u8") >> np.uint64(12)
    return (upper.astype(np.float64) + 0.5) * 2.0**-52
