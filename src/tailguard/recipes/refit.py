"""The shared low-dimensional refit, planned: its shares of a budget, its clip levels, its number of steps."""

import math
from dataclasses import dataclass, replace

from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft
from tailguard.recipes.feasible import carry
from tailguard.recipes.mean import least_order
from tailguard.recipes.noise import CountNoise
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.refit import Levels, Refit
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.gram import Gram
from tailguard.statistics.octaves import Octaves

__all__ = ["RefitPlan", "level_noise"]

ROW, GRAM, LEVEL = 0.015, 0.12, 0.05
"""Shares of the row level, the Gram matrix and the gradients' clip levels."""

RESIDUAL_LEVEL, INTERCEPT = 0.025, 0.075
"""Shares of the final correction of the intercept."""

ROW_TAIL = 100.0
"""Wanted mass of shortened rows, in units of dimension ÷ (n × budget), at most 30 %."""

GRADIENT_TAIL, RESIDUAL_TAIL = 10.0, 1.0
"""Wanted tail masses, in units of the oracle's noise and of one number's."""

REFRESHES = 3

STEPS, MOST_STEPS = ((200.0, 12), (1000.0, 20), (1e5, 30)), 60
"""Numbers of steps below limits of n × budget ÷ dimension, and beyond them."""


@dataclass(frozen=True)
class RefitPlan:
    """A refit on k columns, an intercept included.

    Parameters
    ----------
    problem, privacy : Problem, Privacy
        The public facts.
    oracle : MeanOracle
        How a gradient is estimated.
    k : int
        Length of a row.
    share : float
        The part of the whole budget that the shares above are parts of.
    left : float
        What the refit gets in all.
    correct : bool
        Whether the intercept is corrected at the end.
    steps : int or None
        T; None chooses it from n × budget ÷ k.
    sought : bool
        Whether the clip levels of rows and gradients are sought; otherwise the solver knows them.
    """

    problem: Problem
    privacy: Privacy
    oracle: MeanOracle
    k: int
    share: float
    left: float
    correct: bool
    steps: int | None = None
    sought: bool = True

    @property
    def main(self) -> float:
        """Share of the gradients."""
        final = (RESIDUAL_LEVEL + INTERCEPT) * self.correct
        return self.left - self.share * (GRAM + (ROW + LEVEL) * self.sought + final)

    @property
    def setting(self) -> Refit:
        """What the solver needs to know."""
        weakness = self.k * CountNoise.of(self.privacy).of_one(self.share) / self.problem.n
        steps = _steps(1.0 / weakness) if self.steps is None else self.steps
        return Refit(
            n=self.problem.n,
            bits=grid_bits(self.problem.n),
            oracle=self.oracle,
            levels=self._levels(),
            ridge=min(0.01, weakness),
            steps=steps,
            refreshes=min(REFRESHES, steps),
        )

    def _levels(self) -> Levels:
        n, noise = self.problem.n, CountNoise.of(self.privacy)
        gradient = GRADIENT_TAIL * self.oracle.noise(self.k) * noise.of_one(self.main) / n
        carry("A private gradient", gradient, 5.0, self.problem, self.privacy)
        residual = RESIDUAL_TAIL * noise.of_one(INTERCEPT * self.share) / n
        order = least_order(self.problem)
        return Levels(
            row=ClipLevel(min(ROW_TAIL * self.k * noise.of_one(self.share) / n, 0.3)) if self.sought else None,
            gradient=ClipLevel(min(gradient, 0.5), order) if self.sought else None,
            residual=ClipLevel(min(residual, 0.5), order) if self.correct else None,
        )

    @property
    def drafts(self) -> list[Draft]:
        """The steps in the order in which the solver asks; gradients get shares that grow with their number."""
        setting, k, share = self.setting, self.k, self.share
        drafts = [Draft("row level", Octaves, CELLS, ROW * share)] if self.sought else []
        drafts.append(Draft("gram", Gram, k * (k + 1) // 2, GRAM * share))
        gradient = Draft("gradient", self.oracle.kind, self.oracle.dimension(k), self.main)
        total = setting.steps * (setting.steps + 1) / 2
        for step in range(setting.steps):
            if setting.refreshed(step):
                drafts.append(Draft("gradient level", Octaves, CELLS, LEVEL * share / setting.refreshes))
            drafts.append(replace(gradient, share=self.main * (step + 1) / total))
        if self.correct:
            drafts.append(Draft("residual level", Octaves, CELLS, RESIDUAL_LEVEL * share))
            drafts.append(Draft("intercept", Clipped, 1, INTERCEPT * share))
        return drafts


def level_noise(problem: Problem, privacy: Privacy, share: float) -> float:
    """Return the noise in a cell of a histogram of gradients, as a share of n, of a refit with this share."""
    return math.sqrt(2.0) * CountNoise.of(privacy).of_one(LEVEL * share / REFRESHES) / problem.n


def _steps(strength: float) -> int:
    """Return T for n × budget ÷ dimension: more steps where noise allows more precision."""
    return next((steps for limit, steps in STEPS if strength < limit), MOST_STEPS)
