"""Every mechanism and the laws of its releases. A new mechanism joins the contract suite here."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gamma

from tailguard.mechanisms import (
    Gaussian,
    L2Laplace,
    Laplace,
    LaplacePeeling,
    Mechanism,
    NoisyMax,
    ObjectivePerturbation,
    Peeling,
    Randomness,
    TopK,
)
from tailguard.mechanisms.objective_perturbation import TOLERANCE
from tests.support import laws

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]

MECHANISMS: dict[str, Mechanism] = {
    "gaussian": Gaussian(),
    "laplace": Laplace(),
    "l2 laplace, grid": L2Laplace(),
    "l2 laplace, continuous": L2Laplace("continuous"),
    "objective perturbation": ObjectivePerturbation(),
    "noisy max": NoisyMax(),
    "top 1": TopK(1),
    "peeling 1": Peeling(1),
    "laplace peeling 1": LaplacePeeling(1),
}
WIDER: dict[str, Mechanism] = {
    "top 3": TopK(3),
    "peeling 3": Peeling(3),
    "laplace peeling 3": LaplacePeeling(3),
}
"""Mechanisms that need at least three coordinates."""

MULTIPLIER, SENSITIVITY = 8.0, 5.0
SCALE = MULTIPLIER * SENSITIVITY


@dataclass(frozen=True)
class Law:
    """Releases of one value, sorted into cells, and the probability of each cell for any noise scale."""

    mechanism: Mechanism
    value: Integers
    releases: int
    scale: float
    cells: Callable[[Integers], Integers]
    probabilities: Callable[[float], Vector]
    draws_a_release: int = field(default=1)

    @property
    def draws(self) -> int:
        return self.releases * self.draws_a_release

    def counts(self, randomness: Randomness) -> Integers:
        """Return how often each cell was hit."""
        hits = [self.cells(self._release(randomness)) for _ in range(self.releases)]
        return np.bincount(np.concatenate(hits), minlength=self.probabilities(self.scale).size)

    def _release(self, randomness: Randomness) -> Integers:
        return self.mechanism.release(self.value, SENSITIVITY, MULTIPLIER, randomness)[0]


def _additive(
    mechanism: Mechanism,
    law: Callable[[float], tuple[Integers, Vector]],
    releases: int,
    dimension: int = 1000,
    scale: float = SCALE,
) -> Law:
    """Every coordinate of the release is the value plus noise of the law."""
    value = np.arange(dimension, dtype=np.int64) - 17
    edges = np.floor(scale * np.array([-2.2, -1.5, -1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0, 1.5, 2.2])) + 0.5
    return Law(
        mechanism,
        value,
        releases,
        scale,
        lambda released: np.searchsorted(edges, released - value),
        lambda s: laws.cell_probabilities(*law(s), edges),
        draws_a_release=dimension,
    )


def _radial(dimension: int, releases: int) -> Law:
    """The norm of the release is Gamma(dimension, scale)."""
    edges = gamma(dimension, scale=SCALE).ppf(np.arange(1, 8) / 8)
    return Law(
        L2Laplace("continuous"),
        np.zeros(dimension, dtype=np.int64),
        releases,
        SCALE,
        lambda released: np.atleast_1d(np.searchsorted(edges, np.linalg.norm(released))),
        lambda s: np.diff(gamma(dimension, scale=s).cdf([0.0, *edges, np.inf])),
    )


def _favourite(others: int, place: int) -> tuple[Integers, int]:
    """Return scores in which one candidate leads `others` equals so that it wins about half of the time."""
    lead = round(SCALE * math.log(others))
    scores = np.full(others + 1, 1000, dtype=np.int64)
    scores[place] += lead
    return scores, lead


def _selection(mechanism: Mechanism, picks: int, others: int, releases: int) -> Law:
    """The rank of a favourite among the released indices."""
    place = others // 2
    scores, lead = _favourite(others, place)
    return Law(
        mechanism,
        scores,
        releases,
        SCALE,
        lambda released: np.atleast_1d(np.argmax([*(released == place), True])),
        lambda s: laws.favourite_rank(lead / s, others, picks),
    )


def _chosen(
    mechanism: Mechanism,
    others: int,
    releases: int,
    probability: Callable[[float, int], Vector],
) -> Law:
    """Whether a favourite, of negative sign, is among the entries that are not 0."""
    scores, lead = _favourite(others, 0)
    signs = np.where(np.arange(scores.size) % 2 == 0, -1, 1)
    return Law(
        mechanism,
        signs * scores,
        releases,
        SCALE,
        lambda released: np.atleast_1d((released[0] == 0).astype(np.int64)),
        lambda s: probability(s, lead),
    )


def _gumbel_chosen(others: int, picks: int) -> Callable[[float, int], Vector]:
    def probability(scale: float, lead: int) -> Vector:
        rank = laws.favourite_rank(lead / scale, others, picks)
        return np.array([rank[:-1].sum(), rank[-1]])

    return probability


LAWS: dict[str, Law] = {
    "gaussian": _additive(Gaussian(), laws.discrete_gaussian, 11),
    "laplace": _additive(Laplace(), laws.discrete_laplace, 22),
    "l2 laplace, grid": _additive(L2Laplace(), laws.discrete_laplace, 24, dimension=900, scale=30 * SCALE),
    "l2 laplace, continuous": _radial(16, 1200),
    # Only the last release: the tilt has a law and a suite of its own (tests/mechanisms/test_tilt.py).
    "objective perturbation, values": _additive(
        ObjectivePerturbation(1.0, 30 * TOLERANCE), laws.discrete_laplace, 24, dimension=900, scale=SCALE
    ),
    "noisy max": _selection(NoisyMax(), 1, 30, 5000),
    "top 3": _selection(TopK(3), 3, 40, 3000),
    "peeling, values": _additive(Peeling(500), laws.discrete_gaussian, 22, dimension=500),
    "peeling, picks": _chosen(Peeling(2), 40, 3300, _gumbel_chosen(40, 2)),
    "laplace peeling, values": _additive(LaplacePeeling(6), laws.discrete_laplace, 3600, dimension=6),
    "laplace peeling, picks": _chosen(
        LaplacePeeling(1), 40, 5500, lambda s, lead: laws.laplace_favourite(lead, 40, 1, s)
    ),
}
