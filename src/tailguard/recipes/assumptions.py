"""What theorem parameters need to be told, checked in one place."""

import math

from tailguard._validate import refuse
from tailguard.errors import BudgetError
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy

__all__ = ["bounded_radius", "classical_multiplier", "moment_of"]


def moment_of(problem: Problem, owner: str, *, low: float, high: float, of: tuple[str, ...]) -> tuple[float, float]:
    """Return (order, bound) of the stated moment, or raise what the theorem asks for."""
    moment = problem.moment
    if moment is None or moment.bound is None or not low <= moment.order <= high or moment.of not in of:
        limit = f"at least {low:g}" if math.isinf(high) else f"above 1 and at most {high:g}"
        rule = f"a Moment of every {' or '.join(of)} with an order {limit} and a bound"
        raise refuse("moment", f"{owner} with parameters='paper'", rule, moment)
    return moment.order, moment.bound


def bounded_radius(problem: Problem, owner: str) -> float:
    """Return the ℓ2 radius of a bounded domain, or raise."""
    radius = problem.domain.norm_bound("l2")
    if not math.isfinite(radius):
        raise refuse("domain", f"{owner} with parameters='paper'", "bounded", problem.domain)
    return radius


def classical_multiplier(privacy: Privacy) -> float:
    """Return √(2 ln(1.25/δ))/ε, the Gaussian mechanism of Tao et al. 2022, Lemma 3.

    Raises
    ------
    BudgetError
        For ε > 1, where the formula is not private enough: at ε = 10, δ = 1e-6 it really spends δ = 1.9e-6.
    """
    if privacy.pure:
        raise refuse("delta", "the Gaussian mechanism", "greater than 0", privacy.delta)
    if privacy.epsilon > 1.0:
        raise BudgetError(
            f"The Gaussian mechanism of Tao et al. 2022, Lemma 3 holds only for ε ≤ 1, not for {privacy}."
        )
    return math.sqrt(2.0 * math.log(1.25 / privacy.delta)) / privacy.epsilon
