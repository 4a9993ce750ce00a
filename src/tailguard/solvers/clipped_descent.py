"""Regression without bounds: private preparation, one noisy Gram matrix, a few clipped and preconditioned steps."""

from dataclasses import dataclass, replace

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss
from tailguard.solvers.base import Solve, Solver
from tailguard.solvers.preparation import Preparation, prepare_features, prepare_target, raw_units, units
from tailguard.solvers.refit import Refit, refit, scaled_loss
from tailguard.solvers.sandwich import Log, Sandwich, recorded, sandwich
from tailguard.solvers.target_range import with_range
from tailguard.statistics.view import View

__all__ = ["ClippedDescent"]


@dataclass(frozen=True)
class ClippedDescent(Solver):
    """Private preparation of all columns, then a `refit` on all of them.

    Parameters
    ----------
    loss : Loss
        In generalised linear form, smooth.
    domain : Domain
        Where the coefficients may lie, in raw units.
    d : int
        Number of features.
    intercept : bool
        Whether an intercept is fitted.
    scaled_target : bool
        Whether the target is centred and scaled too (a loss of residuals) or taken as it is (classes).
    preparation : Preparation
        How medians are sought.
    descent : Refit
        How the model is fitted then.
    errors : Sandwich or None
        How its uncertainty is estimated; None for not at all.
    """

    loss: Loss
    domain: Domain
    d: int
    intercept: bool
    scaled_target: bool
    preparation: Preparation
    descent: Refit
    errors: Sandwich | None = None

    @with_range
    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        n, bits = self.descent.n, self.descent.bits
        view = View(self.d, intercept=self.intercept)
        if self.scaled_target:
            view = yield from prepare_target(view, self.preparation, n, bits)
        view = yield from prepare_features(view, self.preparation, n, bits)
        factors = view.target_scale / units(view)[1]
        fit, log = refit(self.descent, scaled_loss(self.loss, view), view, domain=self.domain, factors=factors), Log()
        point = yield from recorded(fit, log)
        estimate = raw_units(view, point, self.domain)
        if self.errors is None:
            return estimate
        uncertainty = yield from sandwich(self.errors, log)
        return replace(estimate, uncertainty=uncertainty)
