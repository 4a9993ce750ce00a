"""Noise without a mean: least squares is replaced by a loss that gives records far away no weight."""

from tailguard.losses.base import Loss
from tailguard.losses.biweight import Biweight
from tailguard.losses.squared import Squared

__all__ = ["CERTAIN", "WILD", "tamed"]

WILD, SHARE = 1000.0, 0.05
"""Noise is called wild when more than 5 % of the residuals exceed 1000 times their 30 % quantile. Among usual tails
hardly any do; a tail of order 1 has 0.04 %, of order 1/2 about 2 %."""

CERTAIN = 3.0
"""By so many deviations of what was released."""

WIDTH = 8.0
"""Width of the biweight loss, in 30 % quantiles."""


def tamed(loss: Loss, near: float, share: float, noise: float) -> Loss:
    """Return the loss itself, or a biweight loss where the noise is wild.

    The minimiser of a squared loss means nothing where the noise has no mean; clipped at any level, records that lie
    all on one side still drag the intercept along. The biweight loss forgets them.

    Parameters
    ----------
    loss : Loss
        Only the squared loss is ever replaced.
    near : float
        Released 30 % quantile of the residuals' sizes.
    share, noise : float
        Released share of the residuals beyond `WILD` × near, and its noise.
    """
    return Biweight(WIDTH * near) if isinstance(loss, Squared) and share > SHARE + CERTAIN * noise else loss
