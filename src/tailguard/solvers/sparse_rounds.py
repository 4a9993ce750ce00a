"""Sparse regression in rounds: pick a few columns by their gradient, refit on all picked ones, pick again."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss
from tailguard.solvers.base import FloatVector, Query, Released, Setting, Solve, Solver
from tailguard.solvers.intercept import Settling, settle
from tailguard.solvers.model_choice import choose
from tailguard.solvers.preparation import Preparation, inside, prepare_target, raw_units, without_faint_centre
from tailguard.solvers.quantile import LogGrid, quantile
from tailguard.solvers.refit import Refit, refit, scaled_loss
from tailguard.solvers.tamed import CERTAIN, WILD, tamed
from tailguard.solvers.target_range import with_range
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

USUAL = 0.5
"""A usual slope of the null model, in scales of the target, for the choice at the end: the level of the picks is
smaller where many targets are alike. It is the largest slope of classes."""


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

    In the end a private choice is made between the null model and the last one, or among the models after all rounds.

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
        How the models are fitted after each round. One more makes the models after all rounds candidates of the choice,
        and fits the chosen one again, as a model of all picked columns of which the others are dropped.
    handicap : float
        What a model must win over the next smaller one, as in `choose`.
    settling : Settling or None
        How the intercept is settled in the end, if there is one.
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
    settling: Settling | None

    @property
    def nested(self) -> bool:
        """Whether the models after all rounds are candidates of the choice."""
        return len(self.refits) > len(self.counts)

    @with_range
    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        n, bits = self.refits[0].n, self.refits[0].bits
        view = View(self.d, intercept=self.intercept)
        if self.target is not None:
            view = without_faint_centre((yield from prepare_target(view, self.target, n, bits)))
        view = yield from prepare_wide(view, self.features, n, bits)
        path = yield from self._grow(view, n, bits)
        best = yield from self._choose(view, path, bits)
        model = path.models[best]
        if self.nested:
            dropped = np.isin(np.arange(self.d), path.support[: sum(self.counts[:best])], invert=True)
            chosen = replace(view, scale=np.where(dropped, np.inf, np.asarray(view.scale)))
            model = yield from self._refit(chosen, path.loss, model, path.support, self.refits[-1], path.level)
        if self.settling is not None:
            model = inside(view, model, self.domain)
            point = yield from settle(self.settling, self._on(view, path.loss, model, path.support))
            model = np.append(model[:-1], point[-1:])
        return raw_units(view, model, self.domain)

    def _grow(self, view: View, n: int, bits: int) -> Generator[Query, Released, "_Path"]:
        """Pick and refit round by round."""
        loss, support, models = scaled_loss(self.loss, view), np.array([], dtype=np.int64), [np.zeros(view.dimension)]
        fitted, levels = loss, []
        for descent in self.refits[: len(self.counts)]:
            level, robust = yield from self._level(view, loss, models[-1], support, n, bits)
            levels.append(level)
            # Slopes of the loss that the model was fitted to balance; others would let errors of column means in.
            support = yield from self._pick(view, fitted, models[-1], support, level, bits)
            models.append((yield from self._refit(view, robust, models[-1], support, descent, level)))
            fitted = robust
        usual = max(levels[0], USUAL) if fitted is loss else levels[-1]
        return _Path(support, models, levels[-1], usual, fitted)

    def _choose(self, view: View, path: "_Path", bits: int) -> Generator[Query, Released, int]:
        """Return the number of rounds after which the model is taken."""
        if not self.nested:
            models = [path.models[0], path.models[-1]]
            limit = path.improvement(models[-1])
            return len(self.counts) * (yield from choose("choice", view, path.loss, models, limit, bits, self.handicap))
        # All are compared with the largest, from which the better ones differ by little at any record.
        models, limit = path.models[::-1], 4.0 * path.level**2
        advantage = self.handicap * np.arange(len(models), dtype=np.float64)
        best = yield from choose("choice", view, path.loss, models, limit, bits, -advantage)
        return len(self.counts) - best

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
        size = np.sqrt(max(np.isfinite(np.asarray(view.scale)[support]).sum() + self.intercept, 1))
        known = ROW * size, GRADIENT * level * size
        point = yield from refit(descent, loss, few, start=model[chosen], known=known)
        fitted = np.zeros(view.dimension)
        fitted[chosen] = point
        return fitted


@dataclass(frozen=True, eq=False)
class _Path:
    """Picked columns in their order, models after every round, the last level, a usual slope at first, last loss."""

    support: IntVector
    models: list[FloatVector]
    level: float
    usual: float
    loss: Loss

    def improvement(self, model: FloatVector) -> float:
        """Return the most that a record may count in the final choice: a usual slope times what the model says.

        φ(0, t) − φ(p, t) is about −φ'·p, so a faint model must not be judged on the scale of the noise.
        """
        return 2.0 * self.usual * min(2.0 * self.usual, max(float(np.linalg.norm(model)), 1e-9))
