"""Data of section 6.1: what makes them, where recipes start, and how fits are judged."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tailguard.domains import Domain, L1Ball, Sparse
from tailguard.losses import Logistic, Loss, Squared
from tailguard.reproduction.laws import Law, Single
from tailguard.reproduction.objectives import LogLoss, Objective, Squares
from tailguard.reproduction.population import (
    Population,
    gaussian_logistic,
    independent_squares,
    sampled_logistic,
)
from tailguard.run.randomness import DataGenerator, data_generator, derived_seed
from tailguard.statistics.arrays import FloatVector

__all__ = ["Facts", "Source", "Synthetic", "World", "start_in_ball"]

TEST_ROWS = 40_000
"""Rows of the fixed sample that stands for the population where there is no closed form."""

_TEST = 1_000_003  # a seed that no repetition has


@dataclass(frozen=True)
class Facts:
    """What the theorems assume to be known about the population; here it is told to the paper's recipes for nothing.

    Parameters
    ----------
    smoothness : float
        γ, a Lipschitz constant of the gradient of the risk, the loss being that of `tailguard.losses`.
    gradient : float
        B with E(∂_j ℓ)² ≤ B² at w = 0. The theorems want it on the whole domain, where it is larger; that would only
        add to their noise.
    """

    smoothness: float
    gradient: float

    @classmethod
    def of(cls, loss: Loss, largest: float, second: float, target: float, ridge: float) -> Self:
        """Return them from the largest eigenvalue of E xxᵀ, the largest E x_j², E y² and λ."""
        if isinstance(loss, Squared):
            return cls(largest, math.sqrt(second * target))
        return cls(0.25 * largest + ridge, 0.5 * math.sqrt(second))


@dataclass(frozen=True, eq=False)
class World:
    """One repetition: a truth, a start, a judge, and records on demand.

    Attributes
    ----------
    loss, domain : Loss, Domain
        What the recipes are told.
    ridge : float
        λ of the regularised risk.
    facts : Facts
        What the theorems assume to be known.
    start : FloatVector
        Where the paper's recipes start if the start is random.
    population : Population
        How a fit is judged.
    draw : callable
        Returns n records (X, y); fewer records are the first ones of more.
    """

    loss: Loss
    domain: Domain
    ridge: float
    facts: Facts
    start: FloatVector
    population: Population
    draw: Callable[[int], tuple[NDArray[Any], FloatVector]]

    def empirical(self, X: NDArray[Any], y: FloatVector) -> Objective:
        """Return the average loss over records, for the non-private reference."""
        return Squares.of(X, y) if isinstance(self.loss, Squared) else LogLoss(X, y, self.ridge)


class Source(ABC):
    """Where records come from: a distribution or a data set."""

    @abstractmethod
    def world(self, d: int, sparsity: int, generator: DataGenerator) -> World:
        """Return a repetition with d features, drawn from the generator."""


@dataclass(frozen=True)
class Synthetic(Source):
    """y = ⟨x, w*⟩ + noise, or its sign as a label, with independent features.

    Parameters
    ----------
    features, noise : Law
        Of a feature and of the noise.
    logistic : bool
        Whether the target is the label 1{⟨x, w*⟩ + noise > 0}.
    sparse : bool
        Whether w* is a random sparse unit vector, or one with ‖w*‖₁ = 1.
    ridge : float
        λ of the regularised logistic loss.
    positive : bool
        Whether entries of w* in the ℓ1 ball are positive.
    """

    features: Law
    noise: Law
    logistic: bool = False
    sparse: bool = False
    ridge: float = 0.0
    positive: bool = False

    def world(self, d: int, sparsity: int, generator: DataGenerator) -> World:
        """Return a repetition with d features, drawn from the generator."""
        domain, truth, start = self._sparse(d, sparsity, generator) if self.sparse else self._ball(d, generator)

        def draw(n: int) -> tuple[Single, FloatVector]:
            X = self.features.design(generator, n, d)
            score = np.asarray(X @ truth.astype(np.float32), dtype=np.float64) + self.noise.noise(generator, n)
            return X, (score > 0.0).astype(np.float64) if self.logistic else score

        loss = Logistic() if self.logistic else Squared()
        return World(loss, domain, self.ridge, self._facts(loss, truth), start, self._population(truth, domain), draw)

    def _facts(self, loss: Loss, truth: FloatVector) -> Facts:
        mean, variance = self.features.mean, self.features.variance
        target = variance * float(truth @ truth) + (mean * float(truth.sum())) ** 2 + self.noise.variance
        return Facts.of(loss, variance + len(truth) * mean**2, variance + mean**2, target, self.ridge)

    def _population(self, truth: FloatVector, domain: Domain) -> Population:
        if not self.logistic:
            return independent_squares(self.features, self.noise, truth)
        if self.sparse and self.features.family == "normal":
            return gaussian_logistic(self.features, self.noise, truth, self.ridge)
        X = _test_sample(self.features, len(truth))
        return sampled_logistic(X, self.noise, truth, self.ridge, domain, support=self.sparse)

    def _ball(self, d: int, generator: DataGenerator) -> tuple[Domain, FloatVector, FloatVector]:
        w = generator.standard_normal(d)
        w = np.abs(w) if self.positive else w
        return L1Ball(d, 1.0), w / np.abs(w).sum(), start_in_ball(d, generator)

    def _sparse(self, d: int, sparsity: int, generator: DataGenerator) -> tuple[Domain, FloatVector, FloatVector]:
        truth, start = np.zeros(d), np.zeros(d)
        truth[generator.permutation(d)[:sparsity]] = generator.normal(0.0, 100.0, sparsity)
        direction = generator.standard_normal(sparsity)
        length = generator.random() ** (1.0 / sparsity)
        start[generator.permutation(d)[:sparsity]] = length * direction / np.linalg.norm(direction)
        # Algorithm 3 has the unit ball as a domain, Algorithm 5 has sparsity alone.
        return Sparse(d, sparsity, None if self.logistic else 1.0), truth / np.linalg.norm(truth), start


def start_in_ball(d: int, generator: DataGenerator) -> FloatVector:
    """Return a uniform point of the unit ℓ1 ball."""
    spacings = generator.standard_exponential(d + 1)
    return np.asarray(np.where(generator.random(d) < 0.5, -1.0, 1.0) * spacings[:d] / spacings.sum())


@lru_cache(maxsize=2)
def _test_sample(features: Law, d: int) -> Single:
    return features.design(data_generator(derived_seed(_TEST, d)), TEST_ROWS, d)
