"""Which recipe `method="auto"` takes: a function of public facts, and of nothing else."""

from tailguard.domains.l1_ball import L1Ball
from tailguard.domains.polytope import Polytope
from tailguard.domains.simplex import Simplex
from tailguard.domains.sparse import Sparse
from tailguard.losses.base import Loss
from tailguard.losses.squared import Squared
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Parameters, Task
from tailguard.recipes.newton import CENTRE
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, LIMIT
from tailguard.recipes.small_budgets import public_units_suffice
from tailguard.solvers.preparation import Preparation

__all__ = ["choose_recipe", "pays_without_delta"]

FEW = 14
"""So many columns, the intercept included, are few at any n: "newton" does without their medians where it must, and
what is made for many columns is refused sooner."""

GRAM_NOISE, WIDE, WIDE_NOISE = 3.0, 300, 0.3
"""Noise of a Gram matrix, k^1.5 ÷ (n × budget), from which on a descent without one is better; from how many columns on
it is the smaller one. On tables with 50 to 280 columns the Gram matrix wins wherever it was measured, up to a noise
of 1.4; on synthetic designs, with little correlation or none, it loses from about 0.4 on, by a factor of 1.5 to 6
at 0.6 to 1.2."""

UNSPENT, EACH_UNSPENT = 400.0, 36.0
"""n·ε, in all and for each coefficient, from which on a fit without δ pays where there is none with it. From the first
on every private unit gets the n·ε that it takes; with less, the target's goes far astray in up to one fit of a hundred.
Below the second, models are hardly better than the null model."""


def choose_recipe(task: Task, problem: Problem, privacy: Privacy, parameters: Parameters = "practical") -> str:
    """Return the name of the recipe for these public facts.

    Parameters
    ----------
    task : {"mean", "regression", "classes"}
        What is fitted; "classes" are more than two, for which there is "newton".
    problem, privacy : Problem, Privacy
        The public facts and the budget.
    parameters : {"practical", "paper"}, default="practical"
        Theorem parameters take the algorithm whose theorem covers the domain.

    Notes
    -----
    ============================  =====================================================================================
    domain                        recipe
    ============================  =====================================================================================
    sparse, mean                  "sparse_mean"
    any other, mean               "centred_clipping"
    sparse                        "sparse_rounds", with δ = 0 "truncated_thresholding"
    any other, custom loss        "clipping"
    polytope or simplex           few columns "newton", else or with δ = 0 "frank_wolfe"
    ℓ1 ball                       few columns "newton", many "centred_descent", with δ = 0 "frank_wolfe"
    any other                     few columns "newton", many "centred_descent", with δ = 0 "objective_perturbation"
    ============================  =====================================================================================

    Where the budget cannot carry that recipe, the one for δ = 0 may be taken in its place (`pays_without_delta`).
    """
    if parameters == "paper":
        return _of_a_paper(task, problem, privacy)
    domain = problem.domain
    if task == "classes":
        return "newton"
    if task == "mean":
        return "sparse_mean" if isinstance(domain, Sparse) else "centred_clipping"
    if isinstance(domain, Sparse):
        return "truncated_thresholding" if privacy.pure else "sparse_rounds"
    if not isinstance(problem.loss, Loss):  # nothing but gradients is known of it
        return "clipping"
    if privacy.pure:
        return "frank_wolfe" if isinstance(domain, L1Ball | Simplex | Polytope) else "objective_perturbation"
    if not _many(problem, privacy):
        return "newton"
    return "frank_wolfe" if isinstance(domain, Simplex | Polytope) else "centred_descent"


def pays_without_delta(recipe: str, problem: Problem, privacy: Privacy) -> bool:
    """Whether `method="auto"` takes a recipe without δ where there are too few rows for the one with it.

    Only "objective_perturbation" in private units, which ends with a choice between its model and the null model, and
    only from an n·ε on at which it was measured to be better than that on synthetic data with a signal.

    Parameters
    ----------
    recipe : str
        What is chosen for δ = 0.
    problem, privacy : Problem, Privacy
        The public facts and the budget, without δ.
    """
    total, k, moment = problem.n * privacy.epsilon, problem.d + problem.intercept, problem.moment
    judged = recipe == "objective_perturbation" and (moment is None or moment.bound is None)
    return judged and total >= UNSPENT and total >= EACH_UNSPENT * k


def _of_a_paper(task: Task, problem: Problem, privacy: Privacy) -> str:
    domain, squared = problem.domain, isinstance(problem.loss, Squared)
    if isinstance(domain, Sparse):
        return "shrunken_thresholding" if squared else "catoni_thresholding"
    if task == "mean":
        return "centred_clipping"
    if isinstance(domain, L1Ball) and squared and not privacy.pure:
        return "shrunken_lasso"
    if isinstance(domain, L1Ball | Simplex | Polytope):
        return "frank_wolfe"
    return "double_output_perturbation" if privacy.pure else "clipping"


def _many(problem: Problem, privacy: Privacy) -> bool:
    """Whether the noise of a Gram matrix outweighs what it is good for."""
    k, noise = problem.d + problem.intercept, CountNoise.of(privacy)
    if public_units_suffice(problem, privacy):
        return False
    wide = k > WIDE or isinstance(problem.domain, L1Ball | Simplex | Polytope)
    if wide and not _medians(problem, noise):
        return k > FEW
    return k > FEW and k**1.5 * noise.multiplier > (WIDE_NOISE if wide else GRAM_NOISE) * problem.n


def _medians(problem: Problem, noise: CountNoise) -> bool:
    """Whether medians of all columns can be carried, where they are sought."""
    if problem.scales is not None and problem.scales.centres is not None:
        return True
    depth = Preparation(COARSE).grid.depth
    return not problem.intercept or noise.of_bisection(CENTRE, depth, problem.d) <= LIMIT * problem.n
