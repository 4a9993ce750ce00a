"""What is compared: the paper's recipes and ours, each one entry, and references that are not private."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tailguard.domains import Sparse
from tailguard.losses import Squared
from tailguard.plans import Plan, Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes import catoni_thresholding, frank_wolfe, recipe, shrunken_lasso, shrunken_thresholding
from tailguard.reproduction.readings import Readings
from tailguard.statistics.arrays import FloatVector

__all__ = ["METHODS", "REFERENCES", "Case", "Method", "methods_of"]

STEP = 0.5
"""η of Algorithms 3 and 5 in section 6."""

_ROUNDING = 1e-9  # a root that is a whole number must not fall below it


@dataclass(frozen=True, eq=False)
class Case:
    """What a method is told, all of it public.

    Attributes
    ----------
    problem : Problem
        Loss, domain, n and d.
    privacy : Privacy
        The budget, with δ = n^−1.1.
    start : FloatVector
        Where the paper's recipes start.
    ridge : float
        λ of the regularised loss.
    readings : Readings
        How the text is read.
    """

    problem: Problem
    privacy: Privacy
    start: FloatVector
    ridge: float
    readings: Readings


@dataclass(frozen=True)
class Method:
    """A private method.

    Parameters
    ----------
    name : str
        In tables.
    label : str
        In legends.
    ours : bool
        Whether it is tailguard's own; else it is the paper's.
    algorithms : tuple of int
        The algorithms of the paper in whose figures it appears.
    plan : callable
        From the public facts to a plan.
    pure : bool
        Whether δ = 0.
    """

    name: str
    label: str
    ours: bool
    algorithms: tuple[int, ...]
    plan: Callable[[Case], Plan]
    pure: bool = False


def _algorithm1(case: Case, scale: float | None) -> Plan:
    """Return Algorithm 1 with the numbers of section 6, or with s of Theorem 2 where None is given."""
    steps = math.floor(math.cbrt(case.problem.n * case.privacy.epsilon) + _ROUNDING)
    return frank_wolfe.plan_with(case.problem, case.privacy, steps=steps, scale=scale, start=case.start)


def _section1(case: Case) -> Plan:
    # The paper's squared loss has twice our gradient, so that its s is half as large here.
    unit = 0.5 if isinstance(case.problem.loss, Squared) else 1.0
    return _algorithm1(case, unit * math.floor(case.problem.n * case.privacy.epsilon))


def _theorem2(case: Case) -> Plan:
    return _algorithm1(case, None)


def _section2(case: Case) -> Plan:
    n, epsilon = case.problem.n, case.privacy.epsilon
    steps = math.floor((n * epsilon) ** 0.4 + _ROUNDING)
    threshold = shrunken_lasso.shrinkage(n, epsilon, steps)
    return shrunken_lasso.plan_with(case.problem, case.privacy, steps=steps, threshold=threshold, start=case.start)


def _steps(case: Case) -> int:
    """Return T = ⌊ln n⌋ of Algorithms 3 and 5 in section 6."""
    return math.floor(math.log(case.problem.n))


def _algorithm3(case: Case, step_size: float) -> Plan:
    """Return Algorithm 3 with the numbers of section 6, but for η."""
    n, domain = case.problem.n, case.problem.domain
    assert isinstance(domain, Sparse)
    sparsity, steps = min(case.readings.factor * domain.sparsity, case.problem.d), _steps(case)
    threshold = shrunken_thresholding.shrinkage(n, case.privacy.epsilon, sparsity, steps)
    return shrunken_thresholding.plan_with(
        case.problem,
        case.privacy,
        sparsity=sparsity,
        steps=steps,
        threshold=threshold,
        step_size=step_size,
        start=case.start,
    )


def _algorithm5(case: Case, threshold: float | None, step_size: float | None) -> Plan:
    """Return Algorithm 5 with the numbers of section 6, or k and η of Theorem 8 where None is given."""
    domain = case.problem.domain
    assert isinstance(domain, Sparse)
    return catoni_thresholding.plan_with(
        case.problem,
        case.privacy,
        sparsity=min(2 * domain.sparsity, case.problem.d),
        steps=_steps(case),
        threshold=threshold,
        step_size=step_size,
        start=case.start,
        ridge=case.ridge,
    )


def _section3(case: Case) -> Plan:
    return _algorithm3(case, STEP)


def _theorem7(case: Case) -> Plan:
    return _algorithm3(case, 2.0 / (3.0 * case.problem.smoothness))


def _section5(case: Case) -> Plan:
    return _algorithm5(case, case.readings.shift * case.problem.n * case.privacy.epsilon, STEP)


def _theorem8(case: Case) -> Plan:
    return _algorithm5(case, None, None)


def _practical(name: str) -> Callable[[Case], Plan]:
    """Return the planner of a recipe's practical parameters, which are told nothing about the population."""
    return lambda case: recipe(name).plan("regression", case.problem, case.privacy)


def _ours(name: str, *algorithms: int, pure: bool = False) -> Method:
    return Method(name, f"tailguard, {name}" + ", δ = 0" * pure, True, algorithms, _practical(name), pure)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("algorithm1", "Algorithm 1, section 6", False, (1,), _section1, pure=True),
        Method("algorithm1-s", "Algorithm 1, s of Theorem 2", False, (1,), _theorem2, pure=True),
        Method("algorithm2", "Algorithm 2, section 6", False, (2,), _section2),
        Method("algorithm3", "Algorithm 3, section 6", False, (3,), _section3),
        Method("algorithm3-eta", "Algorithm 3, η = 2/(3γ) of Theorem 7", False, (3,), _theorem7),
        Method("algorithm5", "Algorithm 5, section 6", False, (5,), _section5),
        Method("algorithm5-k", "Algorithm 5, k and η of Theorem 8", False, (5,), _theorem8),
        _ours("frank_wolfe", 1, pure=True),
        _ours("shrunken_lasso", 2),
        _ours("centred_descent", 1, 2),
        _ours("shrunken_thresholding", 3),
        _ours("catoni_thresholding", 5),
        _ours("sparse_rounds", 3, 5),
    )
}

REFERENCES = {
    "zero": "w = 0",
    "start": "random start",
    "non-private": "non-private optimum",
    "minimiser": "constrained minimiser, no intercept",
    "truth": "w*",
}
"""References and their labels. The constrained minimiser with a free intercept has excess 0 by definition."""


def methods_of(algorithm: int) -> list[Method]:
    """Return the methods in the figures of an algorithm, the paper's first."""
    chosen = [method for method in METHODS.values() if algorithm in method.algorithms]
    return sorted(chosen, key=lambda method: method.ours)
