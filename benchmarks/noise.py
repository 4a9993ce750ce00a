"""The one road from records to a baseline's answer: every noisy statistic passes here, with its declared sensitivity.

A baseline asks for noise by name, gives the exact value and the sensitivity that its docstring derives, and gets the
noisy value back. What was asked is recorded: from it the privacy cost is recomputed, and a replay on a neighbouring
data set, with the same answers, sees how far each exact statistic really moved (`benchmarks/calibration.py`).

Noise is simulated from a seed: a figure can be repeated, and nobody is protected. Sensitivities are for replacing one
record by any other.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tailguard.privacy.events import BoundedRange, Event, Gaussian, Laplace, Pure, Sequential
from tailguard.privacy.recompute import recompute

__all__ = ["Asked", "Departed", "Noise"]

Vector = NDArray[np.float64]
Score = Callable[[Vector], Vector]


class Departed(Exception):  # noqa: N818
    """A baseline asked something else although it was told the same: its questions depend on exact data."""


@dataclass(frozen=True, eq=False)
class Asked:
    """One exact statistic: a vector, or a function of the answer that is only ever compared at public points."""

    name: str
    value: Vector | Score
    sensitivity: float
    norm: Literal["l1", "l2", "linf"]
    event: Event
    probes: Vector | None = None

    def change(self, other: "Asked") -> float:
        """Return how far the statistic is from another data set's, as a share of the sensitivity."""
        order = {"l1": 1, "l2": 2, "linf": np.inf}[self.norm]
        if callable(self.value) and callable(other.value):
            assert self.probes is not None
            pairs = [(self.value(point), other.value(point)) for point in self.probes]
        else:
            pairs = [(self.value, other.value)]
        moves = [float(np.linalg.norm(np.subtract(second, first), order)) for first, second in pairs]
        # A statistic that is not a number has no bound.
        return math.inf if any(map(math.isnan, moves)) else max(moves) / self.sensitivity


class Noise:
    """Simulated noise of one fit, and the record of what it was asked for.

    Parameters
    ----------
    seed : int
        Of the simulation.
    told : Noise or None
        An earlier fit whose answers are given again, in order: a replay.
    """

    def __init__(self, seed: int, told: "Noise | None" = None) -> None:
        self._rng = np.random.default_rng([seed, 0x6E6F6973])
        self._told = None if told is None else told.answers
        self.asked: list[Asked] = []
        self.answers: list[Vector] = []
        self.slack = 0.0
        """δ that a proof of its own takes; no event has it."""

    @property
    def event(self) -> Event:
        """What was done, for an accountant."""
        return Sequential(tuple(asked.event for asked in self.asked))

    def spent(self, delta: float) -> tuple[float, float]:
        """Return the recomputed (ε, δ) at the budget's δ."""
        if self.slack > delta:
            return math.inf, delta
        return recompute(self.event, delta - self.slack), delta

    def gaussian(self, name: str, value: Vector, sensitivity: float, multiplier: float) -> Vector:
        """Return value + N(0, (multiplier × sensitivity)²); the sensitivity is in ℓ2."""
        asked = Asked(name, np.array(value, dtype=float), sensitivity, "l2", Gaussian(multiplier))
        return self._answer(
            asked, lambda: value + multiplier * sensitivity * self._rng.standard_normal(np.shape(value))
        )

    def laplace(self, name: str, value: Vector, sensitivity: float, multiplier: float) -> Vector:
        """Return value + Laplace noise of scale multiplier × sensitivity; the sensitivity is in ℓ1."""
        asked = Asked(name, np.array(value, dtype=float), sensitivity, "l1", Laplace(multiplier))
        return self._answer(asked, lambda: value + self._rng.laplace(0.0, multiplier * sensitivity, np.shape(value)))

    def l2_laplace(self, name: str, value: Vector, sensitivity: float, multiplier: float) -> Vector:
        """Return value + noise of density ∝ exp(−‖b‖₂ ÷ (multiplier × sensitivity)); the sensitivity is in ℓ2."""
        asked = Asked(name, np.array(value, dtype=float), sensitivity, "l2", Laplace(multiplier))
        return self._answer(asked, lambda: value + multiplier * sensitivity * self.isotropic(len(value)))

    def choose(self, name: str, scores: Vector, sensitivity: float, eta: float) -> int:
        """Return an index by the exponential mechanism, P ∝ exp(η·score ÷ (2 × sensitivity)), through Gumbel noise.

        Every score moves by at most the sensitivity, so that the log ratio of two probabilities moves by at most η.
        """
        asked = Asked(name, np.array(scores, dtype=float), sensitivity, "linf", BoundedRange(eta))

        def pick() -> Vector:
            noisy = scores + 2.0 * sensitivity / eta * self._rng.gumbel(size=len(scores))
            return np.array([float(np.argmax(noisy))])

        return int(self._answer(asked, pick)[0])

    def solve(
        self,
        name: str,
        score: Score,
        sensitivity: float,
        norm: Literal["l2", "linf"],
        epsilon: float,
        draw: Callable[[np.random.Generator], Vector],
        probes: Callable[[np.random.Generator, Vector], Vector],
    ) -> Vector:
        """Return what `draw` draws, for mechanisms whose statistic is a function of the answer.

        Parameters
        ----------
        name : str
            Of the release.
        score : callable
            The exact statistic as a function of a possible answer: a utility, or the gradient of an objective.
        sensitivity, norm : float, {"l2", "linf"}
            How far `score` may move at any point, and in which norm.
        epsilon : float
            What the draw costs; the baseline's docstring proves it.
        draw : callable
            The mechanism.
        probes : callable
            Points at which a replay compares the scores, made from a generator and the answer.
        """
        event, value = Pure(epsilon), self._answer_of(draw)
        points = probes(np.random.default_rng([len(self.asked), 0x70726F62]), value)
        return self._keep(Asked(name, score, sensitivity, norm, event, points), value)

    def isotropic(self, dimension: int) -> Vector:
        """Return a draw of density ∝ exp(−‖b‖₂): a Gamma(d) radius times a uniform direction."""
        direction = self._rng.standard_normal(dimension)
        return self._rng.gamma(dimension) * direction / np.linalg.norm(direction)

    def _answer(self, asked: Asked, draw: Callable[[], Vector]) -> Vector:
        return self._keep(asked, self._answer_of(lambda _: draw()))

    def _answer_of(self, draw: Callable[[np.random.Generator], Vector]) -> Vector:
        if self._told is None:
            return np.asarray(draw(self._rng), dtype=float)
        if len(self.answers) >= len(self._told):
            raise Departed
        return self._told[len(self.answers)]

    def _keep(self, asked: Asked, value: Vector) -> Vector:
        self.asked.append(asked)
        self.answers.append(value)
        return value
