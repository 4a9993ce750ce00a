"""Minimisers of the Lipschitz extension by the paper's own method, for tiny problems. Proof: joint_minimiser.md."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tailguard._rounding import above
from tailguard._validate import integer, real, refuse
from tailguard.certified import JointProblem, adaptive_subgradient, inexact_projection
from tailguard.domains.base import Domain
from tailguard.errors import ParameterError
from tailguard.losses.base import Loss
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector
from tailguard.statistics.base import Norm, Source, Statistic, checked_bits, register, root_above
from tailguard.statistics.fields import point_of
from tailguard.statistics.minimiser import proved
from tailguard.statistics.view import View

__all__ = ["JointMinimiser"]

LARGEST = 2**62


@register
@dataclass(frozen=True, eq=False)
class JointMinimiser(Statistic):
    """argmin over W_0 of (1/size) Σ f_C(w, z) + ridge/2·‖w − centre‖², by Lowy 2026, Algorithm 3 and Lemma 2.7.

    f_C(w, z) is the infimum of f(y, z) + clip·‖w − y‖ over y in W, and all y are unknowns of one problem. The number of
    iterations is bounded by public numbers, `iterations`, and refused beyond two million.

    Parameters
    ----------
    view : View
        Makes rows and targets.
    loss : Loss
        Convex, with a bound on its slope.
    clip, ridge : float
        C and λ.
    centre : vector
        Where the regulariser pulls to; a point of the domain.
    size : int
        Number of records, public.
    bits : int
        clip/(ridge · size) is L = 2**bits grid steps.
    domain : Domain
        W, convex and bounded.
    row_bound : float
        The longest row that counts in full; public.
    accuracy : float, default=1.0
        Distance to the exact minimiser, in units of clip/(ridge · size): 1 in Algorithm 2, 1/6 in Algorithm 4.
    ball : tuple of (vector, float) or None, default=None
        Centre, a point of W, and radius of the ball that W_0 is cut from W by; None is W itself.

    Notes
    -----
    *Guarantee.* Replacing one record by any other moves the integers by at most 4L + √dimension in Euclidean norm.
    """

    kind: ClassVar[str] = "joint minimiser"
    norms: ClassVar[tuple[Norm, ...]] = ("l2",)

    view: View
    loss: Loss
    clip: float
    ridge: float
    centre: ArrayLike
    size: int
    bits: int
    domain: Domain
    row_bound: float
    accuracy: float = 1.0
    ball: tuple[tuple[float, ...], float] | None = None

    def __post_init__(self) -> None:
        owner, d = type(self).__name__, self.view.dimension
        if not proved(self.loss):  # the accuracy of the minimiser rests on the bound of its slopes
            raise refuse("loss", owner, "a loss of tailguard", self.loss)
        if not proved(self.domain) or self.domain.dimension != d:
            raise refuse("domain", owner, f"one of tailguard, of dimension {d}", self.domain)
        object.__setattr__(self, "centre", point_of(np.asarray(self.centre, dtype=np.float64), d, owner))
        checked_bits(self.bits, d, owner)
        real("accuracy", self.accuracy, owner, above=0.0, at_most=1.0)
        integer("size", self.size, owner)
        self._problem(np.zeros((self.size, d)), np.zeros(self.size))  # checks the rest, from public numbers

    @property
    def dimension(self) -> int:
        """Number of coefficients."""
        return self.view.dimension

    @property
    def unit(self) -> float:
        """What one grid step is worth: clip/(ridge · size · 2**bits), rounded up."""
        return above(Fraction(self.clip) / (Fraction(self.ridge) * self.size * 2**self.bits))

    @property
    def iterations(self) -> int:
        """The most iterations that Algorithm 3 takes, whatever the records are."""
        return self._problem(np.zeros((self.size, self.dimension)), np.zeros(self.size)).iterations(self._gap)

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 4.0 * size + root_above(dimension)

    def evaluate(self, source: Source) -> IntVector:
        """Return the minimiser over these records, on the grid."""
        if source.size != self.size:
            raise ParameterError(f"A {self.kind} of {self.size} records was asked of {source.size}.")
        X, y = source.gather()
        with np.errstate(all="ignore"):  # a warning would tell of a value
            problem = self._problem(self.view.dense(X), self.view.target(y))
            point = self._minimise(problem)
        unit = Fraction(self.unit)
        steps = (round(Fraction(entry) / unit) for entry in point.tolist())
        return np.array([max(-LARGEST, min(LARGEST, step)) for step in steps], np.int64)

    def _minimise(self, problem: JointProblem) -> FloatVector:
        start = np.tile(problem.centre, (self.size + 1, 1))
        if self.ball is not None:
            start[0] = self.domain.project(self.ball[0])
        found = adaptive_subgradient(
            problem.subgradient,
            self._project,
            start,
            diameter=problem.diameter,
            lipschitz=problem.lipschitz,
            accuracy=self._gap,
        )
        return np.asarray(found[0])

    def _project(self, point: FloatMatrix, accuracy: float) -> FloatMatrix:
        others = [self.domain.project(row) for row in point[1:]]
        if self.ball is None:
            return np.stack([self.domain.project(point[0]), *others])
        centre, radius = self.ball
        first = inexact_projection(self.domain, self.domain.project(centre), radius, point[0], accuracy)
        return np.stack([first, *others])

    @property
    def _gap(self) -> float:
        """α, the gap of the objective at which the minimiser is within `accuracy`."""
        return (self.accuracy * self.clip / self.size) ** 2 / (2.0 * self.ridge)

    def _problem(self, rows: FloatMatrix, targets: FloatVector) -> JointProblem:
        numbers = (self.clip, self.ridge, np.asarray(self.centre))
        return JointProblem(rows, targets, self.loss, *numbers, self.domain, self.row_bound)
