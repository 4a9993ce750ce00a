"""How much noise a peeling takes, in units of the ℓ∞ sensitivity λ: the papers' formulas and what is really needed."""

import math

from tailguard._validate import integer, refuse
from tailguard.mechanisms import LaplacePeeling, Peeling
from tailguard.privacy.budget import Privacy
from tailguard.privacy.calibration import calibrate, zcdp_rho

__all__ = [
    "concentrated_multiplier",
    "gumbel_multiplier",
    "hu_multiplier",
    "laplace_multiplier",
    "tao_multiplier",
]

SENSITIVITY = 2.0**31
"""Of a statistic on a grid that is fine enough for its fineness not to matter."""


def hu_multiplier(count: int, privacy: Privacy) -> float:
    """Return 2√(3s·ln(1/δ))/ε, Hu et al. 2022, Algorithm 4 lines 4 and 7.

    Parameters
    ----------
    count : int
        s, the number of coordinates that are kept.
    privacy : Privacy
        The budget of the peeling, δ > 0.

    Examples
    --------
    >>> round(hu_multiplier(20, Privacy(1.0, 1e-6)), 1)
    57.6
    """
    return 2.0 * math.sqrt(3.0 * _size(count, privacy, "hu_multiplier")) / privacy.epsilon


def tao_multiplier(count: int, privacy: Privacy) -> float:
    """Return 4√(2s·ln(1/δ))/ε, Tao et al. 2022, Algorithm 4 lines 3 and 6.

    Examples
    --------
    >>> round(tao_multiplier(20, Privacy(1.0, 1e-6)), 1)
    94.0
    """
    return 4.0 * math.sqrt(2.0 * _size(count, privacy, "tao_multiplier")) / privacy.epsilon


def laplace_multiplier(count: int, privacy: Privacy) -> float:
    """Return the least multiplier at which the papers' own mechanism, Laplace picks and values, is inside the budget.

    At most 3s/ε, which needs no δ.

    Examples
    --------
    >>> round(laplace_multiplier(20, Privacy(1.0, 1e-6)), 1)
    40.0
    """
    mechanism = LaplacePeeling(count)
    return calibrate(lambda scale: mechanism.event(scale, SENSITIVITY, count), privacy)


def gumbel_multiplier(count: int, privacy: Privacy) -> float:
    """Return the least multiplier at which Gumbel picks and Gaussian values are inside the budget.

    Examples
    --------
    >>> round(gumbel_multiplier(20, Privacy(1.0, 1e-6)), 1)
    28.4
    """
    mechanism = Peeling(count)
    return calibrate(lambda scale: mechanism.event(scale, SENSITIVITY, count), privacy)


def concentrated_multiplier(count: int, privacy: Privacy) -> float:
    """Return √(s/ρ): the same mechanism in zCDP, s picks of (2/m)²/8 and s values of 1/(2m²).

    Examples
    --------
    >>> round(concentrated_multiplier(20, Privacy(1.0, 1e-6)), 1)
    28.7
    """
    return math.sqrt(integer("count", count, "concentrated_multiplier") / zcdp_rho(privacy))


def _size(count: int, privacy: Privacy, owner: str) -> float:
    if privacy.pure:
        raise refuse("delta", owner, "greater than 0", privacy.delta)
    return integer("count", count, owner) * math.log(1.0 / privacy.delta)
