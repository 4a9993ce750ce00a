"""What the practical recipes of pure ε share: clip level, curvature, rounded kinks, and how a fit ends."""

import math
from dataclasses import dataclass

from tailguard._validate import refuse
from tailguard.domains.whole_space import WholeSpace
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.losses.hinge import Hinge
from tailguard.losses.logistic import Logistic
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft
from tailguard.recipes.feasible import carry
from tailguard.recipes.pure_units import pick_noise, pick_share, pure_units, unit_drafts
from tailguard.solvers.ending import Ending
from tailguard.solvers.log_odds import believed_odds
from tailguard.solvers.pure_units import PureUnits
from tailguard.solvers.rank_level import CANDIDATES
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.minimiser import proved
from tailguard.statistics.ranks import Ranks
from tailguard.statistics.scores import Shifted

__all__ = ["PureFit", "pure_fit"]

RESIDUAL, SLOPE = 0.67, 0.6
"""Clip level for rows of usual length: a usual residual in units of the target's spread, and a part of the largest
slope where a loss has one."""

GROWTH, UNSETTLED = 0.02, 0.047
"""How the clip level of residuals grows with (nε ÷ k)^(1/2); the second where no intercept makes up for its bias."""

STEEP = 0.05
"""The same in units of the largest slope."""

CURVATURE, KINKED, CLASSES = 0.02, 0.06, 0.05
"""How the largest curvature of a record grows with (nε ÷ k)^(1/2), for residuals, for classes with a kink in their loss
and for those without."""

WIDEST, KINK, MARGIN = 0.8, 10.0, 6.0
"""Width of rounded kinks, at most, and times (nε ÷ k)^(1/2) for residuals and for margins."""

KNOWN, KNOWN_GROWTH = 0.5, 0.07
"""The clip level where a moment of the gradients is known, in units of its bound."""

CHOICE, CHOICE_LEAST, CHOICE_MOST = 90.0, 0.02, 0.09
"""n·ε that a choice takes, and limits of its share."""

LIMIT, WIDER, WIDEST_FROM, HANDICAP = 0.7, 0.05, 200.0, 2.0
"""The most that a record counts in the choice; how it grows with the root of the choice's n·ε, and from which n·ε on in
proportion, as noise is no concern there and what a model gains may lie in few records; and how far the model must be
ahead, in such records times ε: the scale of the choice's noise, so that a model that is no better than the null model
is mostly not taken."""

LOSSES, GAINS, ODDS_HANDICAP = 1.0, 0.3, 1.5
"""The same for log-odds, against the model and for it: a record's loss may rise by far more than it can fall, and a
model that is certain of the wrong class of a few records must not win by being a little better on most."""

OFFSET, OFFSET_LEAST, OFFSET_MOST = 150.0, 0.01, 0.1
"""n·ε of the null model of classes, and limits of its share."""

ODDS = 0.5
"""Largest odds of classes that are believed, in n·ε ÷ k."""

SETTLED, INTERCEPT, RESIDUALS, RESIDUALS_LEAST = 3000.0, 0.05, 0.3, 3.0
"""n·ε from which on the intercept is settled, its share, and how far residuals count, in medians, at least and times
the root of its n·ε."""

ROWS, ROWS_MOST = 300.0, 0.02
"""n·ε of the pick of how large rare entries are, and the most of the budget that it takes: where it would be more, rows
with large ones are not believed."""

WEAKEST = 30.0
"""Least n·ε ÷ k: with less, a fit is noise."""


@dataclass(frozen=True)
class PureFit:
    """The public numbers of a fit under pure ε.

    Parameters
    ----------
    problem, privacy : Problem, Privacy
        The public facts.
    loss : Loss
        The loss of the problem, convex and smooth.
    units : PureUnits or None
        As in `tailguard.solvers.PerturbedFit`.
    """

    problem: Problem
    privacy: Privacy
    loss: Loss
    units: PureUnits | None

    @property
    def k(self) -> int:
        """Number of coefficients."""
        return self.problem.d + self.problem.intercept

    @property
    def total(self) -> float:
        """n·ε."""
        return self.problem.n * self.privacy.epsilon

    @property
    def root(self) -> float:
        """(nε ÷ k)^(1/order), order 2 where nobody knows it."""
        moment = self.problem.moment
        return float((self.total / self.k) ** (1.0 / (2.0 if moment is None else moment.order)))

    @property
    def residual(self) -> bool:
        """Whether the loss is one of residuals."""
        return isinstance(self.loss, ResidualLoss)

    @property
    def curvature(self) -> float:
        """The largest curvature of a record, in units of that of a usual one."""
        classes = KINKED if isinstance(self.loss, Hinge) else CLASSES
        return max(1.0, (CURVATURE if self.residual else classes) * self.root)

    @property
    def width(self) -> float:
        """How widely kinks are rounded."""
        return 0.0 if self.units is None else min(WIDEST, (KINK if self.residual else MARGIN) / self.root)

    @property
    def clip(self) -> float:
        """C, in units of a usual row's length, or as it is where a moment is known."""
        moment, steepest = self.problem.moment, self._steepest
        if moment is not None and moment.bound is not None:
            size = moment.bound * (1.0 if moment.of == "norm" else math.sqrt(self.k))
            return size * max(KNOWN, KNOWN_GROWTH * self.root)
        growth = GROWTH if self.settled else UNSETTLED
        usual = max(RESIDUAL, growth * self.root)
        if not self.residual or usual > SLOPE * steepest:
            usual = steepest * max(SLOPE, STEEP * self.root)
        return min(usual, steepest * math.sqrt(self.curvature))

    @property
    def _steepest(self) -> float:
        """The largest slope: of a loss with a kink or of classes, or of Huber's in units of the spread."""
        bound = self.loss.lipschitz
        return math.inf if bound is None else float(bound)

    @property
    def settled(self) -> bool:
        """Whether the intercept is settled at the end."""
        free = isinstance(self.problem.domain, WholeSpace) and self.loss.lipschitz is not None
        return self.problem.intercept and self.units is not None and not free and self.total >= SETTLED

    @property
    def _rare(self) -> float | None:
        """The share of a pick of the sizes of rare entries: none where units of columns are public."""
        sought = self.units is not None and self.units.known.features is None
        return pick_share(self.problem, self.privacy, ROWS) if sought and self.total * ROWS_MOST >= ROWS else None

    @property
    def _pick(self) -> float:
        return pick_share(self.problem, self.privacy)

    @property
    def _choice(self) -> float:
        return min(max(CHOICE / self.total, CHOICE_LEAST), CHOICE_MOST)

    @property
    def _offset(self) -> float:
        return min(max(OFFSET / self.total, OFFSET_LEAST), OFFSET_MOST)

    @property
    def ending(self) -> Ending:
        """How the fit ends."""
        far = max(RESIDUALS_LEAST, RESIDUALS * math.sqrt(self.total * INTERCEPT))
        counts = self.total * self._choice
        wider = max(1.0, WIDER * math.sqrt(counts), counts / WIDEST_FROM) * min(self._steepest, 1.0)
        odds = isinstance(self.loss, Logistic)
        losses, gains, handicap = (LOSSES, GAINS, ODDS_HANDICAP) if odds else (LIMIT, LIMIT, HANDICAP)
        return Ending(
            n=self.problem.n,
            bits=grid_bits(self.problem.n),
            limit=None if self.units is None else wider * (losses + gains) / 2.0,
            handicap=handicap / (self._choice * self.privacy.epsilon),
            width=far if self.settled else None,
            noise=pick_noise(self._pick, self.privacy) if self.settled else 0.0,
            lean=wider * (losses - gains) / 2.0,
            farthest=self._farthest,
            rare=None if self._rare is None else pick_noise(self._rare, self.privacy),
        )

    @property
    def _farthest(self) -> float | None:
        """The largest log-odds: nobody can tell shares of classes from 0 that are below k ÷ (nε)."""
        if not isinstance(self.loss, Logistic) or self.units is None:
            return None
        return believed_odds(ODDS * self.total / self.k)

    @property
    def before(self) -> list[Draft]:
        """The steps before the fit."""
        if self.units is None:
            drafts = [Draft("common scale", Ranks, CANDIDATES, self._pick, picks=1)]
        else:
            drafts = unit_drafts(self.units, self.problem, self.privacy)
        if self.problem.intercept and not self.residual:
            drafts.append(Draft("offset", Clipped, 1, self._offset))
        return drafts

    @property
    def after(self) -> list[Draft]:
        """The steps after the fit."""
        drafts = [] if self.units is None else [Draft("choice", Shifted, 2, self._choice, picks=1)]
        if self.settled:
            drafts.append(Draft("residual level", Ranks, CANDIDATES, self._pick, picks=1))
            drafts.append(Draft("intercept", Clipped, 1, INTERCEPT))
        if self._rare is not None:
            drafts.append(Draft("rare rows", Ranks, CANDIDATES, self._rare, picks=1))
        return drafts

    @property
    def main(self) -> float:
        """What is left of the budget."""
        return 1.0 - sum(draft.share for draft in (*self.before, *self.after))


def pure_fit(problem: Problem, privacy: Privacy, recipe: str) -> PureFit:
    """Return the numbers of a fit, or raise the reason why there is none."""
    loss, moment = problem.loss, problem.moment
    if not privacy.pure:
        raise refuse("delta", recipe, "0", privacy.delta)
    if not isinstance(loss, Loss) or not proved(loss) or not loss.convex or loss.smoothness is None:
        raise refuse(
            "loss", recipe, "a convex loss of tailguard, of predictions, with a bounded second derivative", loss
        )
    if not problem.domain.convex:
        raise refuse("domain", recipe, "convex", problem.domain)
    k = problem.d + problem.intercept
    carry(f"A fit of {k} coefficients", k / (problem.n * privacy.epsilon), 1.0 / WEAKEST, problem, privacy)
    known = moment is not None and moment.bound is not None
    if known and problem.scales is not None:
        raise refuse(
            "scales", recipe, "None where the bound of a moment is given, which takes their place", problem.scales
        )
    return PureFit(problem, privacy, loss, None if known else pure_units(problem, privacy))
