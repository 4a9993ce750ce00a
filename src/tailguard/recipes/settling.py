"""The last word on the intercept, planned."""

from tailguard.losses.base import ResidualLoss
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft
from tailguard.recipes.mean import least_order
from tailguard.recipes.noise import CountNoise
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.intercept import Settling
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.octaves import Octaves

__all__ = ["settling", "settling_drafts"]

LEVEL = 0.25
"""Part of the share that finds the clip level of residuals."""

TAIL = 2.0
"""Wanted tail mass of residuals, in units of the noise of one number."""

STEPS = 4
"""Newton steps for classes; a mean of residuals takes one."""


def settling(problem: Problem, privacy: Privacy, share: float, *, known: bool = False) -> Settling | None:
    """Return how the intercept is settled with a share of the budget; None without an intercept."""
    if not problem.intercept:
        return None
    n, bits = problem.n, grid_bits(problem.n)
    if not isinstance(problem.loss, ResidualLoss):
        return Settling(n, bits, None, STEPS)
    tail = TAIL * CountNoise.of(privacy).of_one(share if known else (1.0 - LEVEL) * share) / n
    return Settling(n, bits, ClipLevel(min(tail, 0.5), least_order(problem)), 1)


def settling_drafts(setting: Settling | None, share: float, *, known: bool = False) -> list[Draft]:
    """Return the steps; where sizes of residuals are known, none that seeks their level."""
    if setting is None:
        return []
    if setting.level is None or known:
        return [Draft("intercept", Clipped, 1, share, setting.steps)]
    sizes = Draft("residual level", Octaves, CELLS, LEVEL * share)
    return [sizes, Draft("intercept", Clipped, 1, (1.0 - LEVEL) * share, setting.steps)]
