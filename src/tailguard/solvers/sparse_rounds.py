"""Sparse regression in rounds: pick a few columns by their gradient, refit on all picked ones, pick again."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Setting, Solve, Solver
from tailguard.solvers.model_choice import choose
from tailguard.solvers.preparation import Preparation, prepare_target, without_faint_centre
from tailguard.solvers.quantile import LogGrid, quantile
from tailguard.solvers.refit import Refit, refit, scaled_loss
from tailguard.solvers.tamed import CERTAIN, WILD, tamed
from tailguard.solvers.wide import WidePreparation, prepare_wide
from tailguard.statistics.arrays import IntVector
from tailguard.statistics.below import Below
from tailguard.statistics.fields import Gradient
from tailguard.statistics.scalars import Norm, Reciprocal
from tailguard.statistics.scores import Magnitudes
from tailguard.statistics.shrunken import Shrunken
from tailguard.statistics.slopes import Slopes
from tailguard.statistics.view import View

__all__ = ["Picks", "SparseRounds"]

NEAR = 0.3
"""Quantile of the slopes' sizes below which records count in full."""

ROW, GRADIENT = 1.5, 2.0
"""Clip levels of rows, in √k, and of gradients, in √k times the limit of the slopes, for refits too small to ask."""


@dataclass(frozen=True)
class Picks(Setting):
    """How columns are picked by the sizes of their shrunken gradients.

    Parameters
    ----------
    width : float
        Largest entry of a row, in its scales: small, so that a pick is nearly a vote of signs.
    grid : LogGrid or None
        Where the 30 % quantile of the slopes' sizes is sought (step "pick level", with two counts more than the grid is
        deep), which `stretch` times is their limit; None takes `stretch`.
    stretch : float
        Factor of the level, or the largest slope itself.
    """

    width: float
    grid: LogGrid | None
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
    handicap : float
        Of the fitted models against the null model, as in `choose`.
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
    handicap: float
    nested: bool

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        n, bits = self.refits[0].n, self.refits[0].bits
        view = View(self.d, intercept=self.intercept)
        if self.target is not None:
            view = without_faint_centre((yield from prepare_target(view, self.target, n, bits)))
        view = yield from prepare_wide(view, self.features, n, bits)
        loss, support = scaled_loss(self.loss, view), np.array([], dtype=np.int64)
        fitted, models = loss, [np.zeros(view.dimension)]
        for descent in self.refits:
            level, robust = yield from self._level(view, loss, models[-1], support, n, bits)
            # Slopes of the loss that the model was fitted to balance; others would let errors of column means in.
            support = yield from self._pick(view, fitted, models[-1], support, level, bits)
            model = yield from self._refit(view, robust, models[-1], support, descent, level)
            models.append(model)
            fitted = robust
        candidates = models if self.nested else [models[0], models[-1]]
        best = yield from choose("choice", view, fitted, candidates, self._improvement(level), bits, self.handicap)
        return self._raw(view, candidates[best])

    def _level(
        self, view: View, loss: Loss, model: FloatVector, support: IntVector, n: int, bits: int
    ) -> Generator[Query, Released, tuple[float, Loss]]:
        """Return the largest slope for the picks, and the loss for the refit.

        Slopes that are 0, or missing, do not count. Before the first round many may be 0, of targets that are equal to
        their median. Whatever counts is counted from above, where neither of them is.
        """
        if self.picks.grid is None or self.target is None:
            return self.picks.stretch, loss
        inverse, least = Reciprocal(Norm(Slopes(self._on(view, loss, model, support)))), 2.0**self.picks.grid.low
        floor = least if support.size else max(self.target.blur(view), least)
        reply = yield Query("pick level", Below(inverse, np.array([1.0 / floor]), bits))
        share, noise = min(float(reply.value[0]) / n, 1.0), reply.noise / n
        above = (1.0 - NEAR) * (share if share > CERTAIN * noise else 1.0)
        found = yield from quantile("pick level", inverse, above, n, bits, self.picks.grid.inverse)
        near = 1.0 / found[0] if found[0] > 0.0 else least
        reply = yield Query("pick level", Below(inverse, np.array([1.0 / (WILD * near)]), bits))
        return self.picks.stretch * near, tamed(loss, near, float(reply.value[0]) / n, reply.noise / n)

    def _on(self, view: View, loss: Loss, model: FloatVector, support: IntVector) -> Gradient:
        """Return the gradient in the columns that a model uses: its slopes are the same, and cheaper."""
        used = np.append(support, self.d) if self.intercept else support
        return Gradient(replace(view, columns=support), loss, model[used])

    def _improvement(self, level: float) -> float:
        """Return the most that a record may count in the final choice."""
        return 4.0 * level**2 if isinstance(self.loss, ResidualLoss) else 1.0

    def _pick(
        self, view: View, loss: Loss, model: FloatVector, support: IntVector, level: float, bits: int
    ) -> Generator[Query, Released, IntVector]:
        gradient = Shrunken(Gradient(view, loss, model), self.picks.width, level, bits)
        excluded = [*support.tolist(), *([self.d] if self.intercept else [])]
        reply = yield Query("picks", Magnitudes(gradient, excluded))
        return np.concatenate([support, self._fresh(reply.value.astype(np.int64), support)])

    def _fresh(self, picked: IntVector, support: IntVector) -> IntVector:
        """Return the picked columns; others in place of what was excluded, should noise beyond all measure pick it."""
        taken = set(support.tolist())
        fresh = [j for j in dict.fromkeys([*picked.tolist(), *range(self.d)]) if j < self.d and j not in taken]
        return np.array(fresh[: picked.size], dtype=np.int64)

    def _refit(
        self, view: View, loss: Loss, model: FloatVector, support: IntVector, descent: Refit, level: float
    ) -> Generator[Query, Released, FloatVector]:
        chosen = np.append(support, self.d) if self.intercept else support
        few = replace(view, columns=support)
        known = ROW * np.sqrt(chosen.size), GRADIENT * level * np.sqrt(chosen.size)
        point = yield from refit(descent, loss, few, start=model[chosen], known=known)
        fitted = np.zeros(view.dimension)
        fitted[chosen] = point
        return fitted

    def _raw(self, view: View, model: FloatVector) -> Estimate:
        centre = np.zeros(self.d) if view.centre is None else np.asarray(view.centre)
        slopes = self.domain.project(model[: self.d] * view.target_scale / np.asarray(view.scale))
        if not self.intercept:
            return Estimate(slopes)
        return Estimate(slopes, float(view.target_centre + view.target_scale * model[self.d] - slopes @ centre))
