"""Sparse regression in rounds: pick a few columns by their gradient, refit on all picked ones, pick again."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Setting, Solve, Solver
from tailguard.solvers.clip_level import histogram
from tailguard.solvers.model_choice import choose
from tailguard.solvers.preparation import Preparation, prepare_target
from tailguard.solvers.refit import Refit, refit, scaled_loss
from tailguard.solvers.tamed import tamed
from tailguard.solvers.wide import WidePreparation, prepare_wide
from tailguard.statistics.arrays import IntVector
from tailguard.statistics.fields import Gradient
from tailguard.statistics.scalars import Slope
from tailguard.statistics.scores import Magnitudes
from tailguard.statistics.shrunken import Shrunken
from tailguard.statistics.view import View

__all__ = ["Picks", "SparseRounds"]


@dataclass(frozen=True)
class Picks(Setting):
    """How columns are picked by the sizes of their shrunken gradients.

    Parameters
    ----------
    width : float
        Largest entry of a row, in its scales: small, so that a pick is nearly a vote of signs.
    quantile : float or None
        Which quantile of the slopes' sizes, times `stretch`, is their limit (step "pick level"); None takes `stretch`.
    stretch : float
        Factor of the level, or the largest slope itself.
    """

    width: float
    quantile: float | None
    stretch: float


@dataclass(frozen=True)
class SparseRounds(Solver):
    """Rounds of Gumbel picks on the clipped gradient, each followed by a private refit on the picked columns.

    The last release chooses between the null model and the fitted ones.

    Parameters
    ----------
    loss : Loss
        In generalised linear form, smooth.
    domain : Domain
        Where the coefficients may lie, in raw units; sparse vectors.
    d : int
        Number of features.
    intercept : bool
        Whether an intercept is fitted.
    target : Preparation or None
        How the target is centred and scaled (a loss of residuals), or None to take it as it is (classes).
    features : WidePreparation
        How the columns are.
    picks : Picks
        How columns are picked.
    counts : tuple of int
        How many in each round.
    refits : tuple of Refit
        How the models are fitted after each round.
    nested : bool
        Whether the models after every round are candidates at the end, or the last one and the null model alone.
    """

    loss: Loss
    domain: Domain
    d: int
    intercept: bool
    target: Preparation | None
    features: WidePreparation
    picks: Picks
    counts: tuple[int, ...]
    refits: tuple[Refit, ...]
    nested: bool

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        n, bits = self.refits[0].n, self.refits[0].bits
        view = View(self.d, intercept=self.intercept)
        if self.target is not None:
            view = yield from prepare_target(view, self.target, n, bits)
        view = yield from prepare_wide(view, self.features, n, bits)
        loss, support = scaled_loss(self.loss, view), np.array([], dtype=np.int64)
        fitted, models = loss, [np.zeros(view.dimension)]
        for descent in self.refits:
            level, robust = yield from self._level(view, loss, models[-1], n, bits)
            # Slopes of the loss that the model was fitted to balance; others would let errors of column means in.
            support = yield from self._pick(view, fitted, models[-1], support, level, bits)
            model = yield from self._refit(view, robust, models[-1], support, descent)
            models.append(model)
            fitted = robust
        candidates = models if self.nested else [models[0], models[-1]]
        best = yield from choose("choice", view, fitted, candidates, self._improvement(level), bits)
        return self._raw(view, candidates[best])

    def _level(
        self, view: View, loss: Loss, model: FloatVector, n: int, bits: int
    ) -> Generator[Query, Released, tuple[float, Loss]]:
        """Return the largest slope for the picks, and the loss for the refit."""
        if self.picks.quantile is None:
            return self.picks.stretch, loss
        found = yield from histogram("pick level", Slope(Gradient(view, loss, model)), n, bits)
        return self.picks.stretch * found.quantile(self.picks.quantile), tamed(loss, found)

    def _improvement(self, level: float) -> float:
        """Return the most that a record may count in the final choice."""
        return 4.0 * level**2 if isinstance(self.loss, ResidualLoss) else 1.0

    def _pick(
        self, view: View, loss: Loss, model: FloatVector, support: IntVector, level: float, bits: int
    ) -> Generator[Query, Released, IntVector]:
        gradient = Shrunken(Gradient(view, loss, model), self.picks.width, level, bits)
        excluded = [*support.tolist(), *([self.d] if self.intercept else [])]
        reply = yield Query("picks", Magnitudes(gradient, excluded))
        return np.concatenate([support, reply.value.astype(np.int64)])

    def _refit(
        self, view: View, loss: Loss, model: FloatVector, support: IntVector, descent: Refit
    ) -> Generator[Query, Released, FloatVector]:
        chosen = np.append(support, self.d) if self.intercept else support
        few = replace(view, columns=support)
        point = yield from refit(descent, loss, few, start=model[chosen])
        fitted = np.zeros(view.dimension)
        fitted[chosen] = point
        return fitted

    def _raw(self, view: View, model: FloatVector) -> Estimate:
        centre = np.zeros(self.d) if view.centre is None else np.asarray(view.centre)
        slopes = self.domain.project(model[: self.d] * view.target_scale / np.asarray(view.scale))
        if not self.intercept:
            return Estimate(slopes)
        return Estimate(slopes, float(view.target_centre + view.target_scale * model[self.d] - slopes @ centre))
