"""How noisy counts will be, from the budget alone; planners decide with it what a budget can carry."""

import math
from dataclasses import dataclass

from tailguard.privacy.budget import Privacy
from tailguard.privacy.calibration import gdp_mu

__all__ = ["CountNoise"]


@dataclass(frozen=True)
class CountNoise:
    """Standard deviations of the noise on quantities to which one record adds at most 1.

    Parameters
    ----------
    multiplier : float
        Noise ÷ sensitivity when the whole budget goes to one release: 1/μ, or √2/ε for δ = 0.
    pure : bool
        Whether δ = 0: then shares add up linearly and vectors are measured in ℓ1.
    """

    multiplier: float
    pure: bool

    @classmethod
    def of(cls, privacy: Privacy) -> "CountNoise":
        """Return the noise that a budget buys."""
        if privacy.pure:
            return cls(math.sqrt(2.0) / privacy.epsilon, True)
        return cls(1.0 / gdp_mu(privacy), False)

    def of_one(self, share: float) -> float:
        """Return the noise of one number with this share of the budget."""
        return self.multiplier / (share if self.pure else math.sqrt(share))

    def of_bisection(self, share: float, depth: int, scalars: int = 1) -> float:
        """Return the noise of each of `depth` counts, for several scalars at once."""
        copies = depth * scalars
        return self.of_one(share) * (copies if self.pure else math.sqrt(copies))

    def of_picks(self, strength: float, n: int, scalars: int = 1) -> float:
        """Return the share with which a pick for each of several scalars has the strength n·ε of its own.

        Scores are distances in ranks; noise on them has a scale of 2n ÷ strength records. With δ > 0 a pick at ε costs
        ε²/8 of zCDP.
        """
        if self.pure:
            return scalars * strength * self.multiplier / (math.sqrt(2.0) * n)
        return scalars * (strength * self.multiplier / (2.0 * n)) ** 2
