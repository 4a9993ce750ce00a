"""Tao et al. 2022, Algorithm 1: values beyond a threshold count as 0, then Gaussian noise."""

import math
from functools import partial

from tailguard._validate import refuse
from tailguard.mechanisms import Gaussian
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.assumptions import classical_multiplier, moment_of
from tailguard.recipes.base import Recipe
from tailguard.recipes.mean import plan_centred_mean
from tailguard.recipes.prediction import THEOREM_UNIT, theorem_error
from tailguard.recipes.regression import plan_regression
from tailguard.solvers.oracles import Truncate
from tailguard.solvers.private_mean import PrivateMean
from tailguard.statistics.base import grid_bits
from tailguard.theory import tao

__all__ = ["FAILURE", "RECIPE", "paper_mean", "truncation_threshold"]

FAILURE = 0.05
"""ξ, the failure probability for which the theorem's threshold is set."""


def truncation_threshold(n: int, privacy: Privacy, order: float, bound: float, failure: float = FAILURE) -> float:
    """Return B = (u·n·ε/(ln(1/ξ)·√ln(1.25/δ)))^(1/(1+v)) of Algorithm 1, with 1 + v = order and u = bound^order."""
    strength = n * privacy.epsilon / (math.log(1.0 / failure) * math.sqrt(math.log(1.25 / privacy.delta)))
    return float(bound * strength ** (1.0 / order))


def paper_mean(problem: Problem, privacy: Privacy) -> Plan:
    """Return Algorithm 1 with B and the noise of Theorem 1; one dimension, moment of order 1 + v in (1, 2]."""
    if problem.d != 1:
        raise refuse("d", "truncated_mean with parameters='paper'", "1 (Algorithm 3 is median_of_means)", problem.d)
    multiplier = classical_multiplier(privacy)
    order, bound = moment_of(problem, "truncated_mean", low=1.0, high=2.0, of=("coordinate", "direction"))
    n, bits, oracle = problem.n, grid_bits(problem.n), Truncate()
    oracle = oracle.at(truncation_threshold(n, privacy, order, bound))
    sensitivity = oracle.kind.sensitivity_of("l2", 1, bits, 1)
    return Plan(
        recipe="truncated_mean",
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=PrivateMean(problem.domain, n, 1, bits, oracle),
        steps=(Step("mean", oracle.kind.kind, 1, bits, 1, sensitivity, Gaussian(), multiplier),),
        sources=(
            ("threshold", f"Tao et al. 2022, Algorithm 1 line 1, ξ = {FAILURE:g}"),
            ("noise", "Tao et al. 2022, Algorithm 1 line 3"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=theorem_error(tao.truncated_mean, problem, privacy),
    )


RECIPE = Recipe(
    name="truncated_mean",
    source="Tao et al. 2022, Algorithm 1",
    summary="Entries beyond a threshold count as 0; for tails with a moment of order between 1 and 2.",
    planners={
        ("mean", "paper"): paper_mean,
        ("mean", "practical"): partial(plan_centred_mean, "truncated_mean", Truncate()),
        ("regression", "practical"): partial(plan_regression, "truncated_mean", Truncate()),
    },
)
