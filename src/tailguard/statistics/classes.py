"""Fields of records of several classes: the gradient of all classes at once, and which class a record has."""

from dataclasses import dataclass

import numpy as np

from tailguard._validate import real
from tailguard.losses.multinomial import Multinomial, memberships, softmax
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatVector, frozen
from tailguard.statistics.fields import Field, point_of
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["ClassGradient", "Membership"]


@dataclass(frozen=True, eq=False)
class ClassGradient(Field):
    """The gradient (p − e_t) ⊗ z of a multinomial loss with each record weighted by ω² = min(1, radius²/‖z‖²).

    Parameters
    ----------
    view : View
        Makes z; t is the number of the record's class.
    loss : Multinomial
        Says how many classes there are.
    point : vector
        One vector for each class, one after the other; public or released.
    radius : float
        Public or released.
    """

    view: View
    loss: Multinomial
    point: FloatVector
    radius: float

    def __post_init__(self) -> None:
        real("radius", self.radius, "ClassGradient", above=0.0)
        object.__setattr__(self, "point", point_of(self.point, self.dimension, "ClassGradient"))

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.loss.classes * self.view.dimension

    @property
    def width(self) -> int:
        """How many floats a record becomes on the way."""
        return self.dimension

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        rows = self.view.dense(X)
        weights = self.point.reshape(self.loss.classes, -1)
        scores = np.stack([passes.dots(rows, frozen(one)) for one in weights], axis=1)
        with np.errstate(all="ignore"):
            slopes = softmax(scores) - memberships(self.view.target(y), self.loss.classes)
            slopes *= np.minimum(1.0, self.radius**2 / passes.squares(rows))[:, None]
            products = (slopes[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
        return frozen(products), np.ones(len(rows))


@dataclass(frozen=True, eq=False)
class Membership(Field):
    """Row e_t, which is 1 at the record's class and 0 elsewhere, with slope 1; no number where it has none."""

    view: View
    loss: Multinomial

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.loss.classes

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        return frozen(memberships(self.view.target(y), self.loss.classes)), np.ones(len(X))
