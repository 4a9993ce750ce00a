"""The public facts of a fit. Every field may be printed; none of them may come from the records."""

from dataclasses import dataclass, field
from types import NoneType
from typing import Literal

import numpy as np

from tailguard._validate import choice, integer, real, refuse
from tailguard.domains.base import Domain
from tailguard.losses.base import Loss, RecordLoss, ResidualLoss
from tailguard.losses.custom import CustomLoss
from tailguard.losses.squared_distance import SquaredDistance
from tailguard.plans.checks import instance, store
from tailguard.solvers.base import OPTIONAL
from tailguard.solvers.scales import Scales

__all__ = ["Moment", "Problem"]


@dataclass(frozen=True)
class Moment:
    """A public assumption on tails: the moment of the given order is at most bound^order.

    Only accuracy may depend on it. A wrong assumption never costs privacy.

    Parameters
    ----------
    order : float
        p > 1, for instance 2.
    bound : float or None
        M with E|·|^p ≤ M^p; None when nobody knows it.
    of : {"direction", "coordinate", "norm"}
        What has the moment: ⟨u, ·⟩ for every unit vector u (Zhao et al. 2024, Assumption 1c), every coordinate, or
        the Euclidean norm.
    """

    order: float = 2.0
    bound: float | None = None
    of: Literal["direction", "coordinate", "norm"] = "direction"

    def __post_init__(self) -> None:
        store(self, order=real("order", self.order, "Moment", above=1.0))
        if self.bound is not None:
            store(self, bound=real("bound", self.bound, "Moment", above=0.0))
        choice("of", self.of, "Moment", ("direction", "coordinate", "norm"))


@dataclass(frozen=True)
class Problem:
    """What is fitted to how many records: loss, domain of the coefficients, n, d.

    Parameters
    ----------
    loss : Loss or RecordLoss
        The loss to minimise.
    domain : Domain
        Where the coefficients may lie, in raw units, without the intercept.
    n, d : int
        Number of records and of features, both public and published.
    intercept : bool
        Whether an intercept is fitted.
    moment : Moment or None
        A public assumption on the gradients' tails, or None.
    smoothness : float
        λ, an assumed Lipschitz constant of the population risk's gradient; only theorem parameters use it.
    strong_convexity : float
        α, an assumed strong convexity of the loss, 0 if none; only theorem parameters use it.
    scales : Scales or None
        Public centres and scales, never computed from the records; what is given is not sought.
    """

    loss: Loss | RecordLoss
    domain: Domain
    n: int
    d: int
    intercept: bool = False
    moment: Moment | None = None
    smoothness: float = 1.0
    strong_convexity: float = 0.0
    scales: Scales | None = field(default=None, metadata=OPTIONAL)

    def __post_init__(self) -> None:
        instance("loss", self.loss, "Problem", (Loss, RecordLoss), "a loss")
        instance("domain", self.domain, "Problem", Domain, "a Domain")
        instance("intercept", self.intercept, "Problem", (bool, np.bool_), "a boolean")
        instance("moment", self.moment, "Problem", (Moment, NoneType), "a Moment or None")
        store(
            self,
            n=integer("n", self.n, "Problem"),
            d=integer("d", self.d, "Problem"),
            intercept=bool(self.intercept),
            smoothness=real("smoothness", self.smoothness, "Problem", above=0.0),
            strong_convexity=real("strong_convexity", self.strong_convexity, "Problem", at_least=0.0),
        )
        # A custom loss may have any number of coefficients; all others have one a feature.
        if self.domain.dimension != self.d and not isinstance(self.loss, CustomLoss):
            raise refuse("domain", "Problem", f"of dimension d = {self.d}", self.domain)
        instance("scales", self.scales, "Problem", (Scales, NoneType), "Scales or None")
        store(self, scales=None if self.scales is None or self.scales.empty else self._fitting(self.scales))

    def _fitting(self, scales: Scales) -> Scales:
        """Return the public units, a number a column, if this loss has a use for them."""
        numbers = isinstance(self.loss, ResidualLoss)
        centred = self.intercept or isinstance(self.loss, SquaredDistance)
        given = {
            name for name in ("features", "target", "centres", "target_centre") if getattr(scales, name) is not None
        }
        for name, useful, why in (
            ("features", not isinstance(self.loss, CustomLoss), "a loss of whole records has no units"),
            (
                "centres",
                centred and not isinstance(self.loss, CustomLoss),
                "a model without an intercept is not centred",
            ),
            ("target", numbers, "there is no target, or it has classes"),
            ("target_centre", numbers and self.intercept, "there is no target that would be centred"),
        ):
            if name in given and not useful:
                raise refuse(name, "Scales", f"left out: {why}", getattr(scales, name))
        return scales.of(self.d)
