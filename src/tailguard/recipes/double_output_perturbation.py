"""Lowy 2026, Algorithms 1, 2 and 4: localised double output perturbation, as printed. A reference."""

import numpy as np

from tailguard._validate import real, refuse
from tailguard.certified.subgradient import MOST_ITERATIONS
from tailguard.errors import BudgetError
from tailguard.losses.base import Loss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.localisation import BITS, SOURCES, arcs, predicted
from tailguard.recipes.prediction import THEOREM_UNIT
from tailguard.recipes.two_stages import output_phases, output_step
from tailguard.solvers.output_phases import SECOND_ACCURACY, DoubleOutput
from tailguard.statistics.joint_minimiser import JointMinimiser
from tailguard.statistics.minimiser import Minimiser, proved
from tailguard.statistics.view import View
from tailguard.theory import lowy

__all__ = ["RECIPE", "paper_regression", "plan_with"]

NAME = "double_output_perturbation"


def paper_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return the main algorithm of the paper with the numbers of Proposition 3.2 and Theorem 3.1; see `plan_with`."""
    return plan_with(problem, privacy)


def plan_with(
    problem: Problem,
    privacy: Privacy,
    *,
    phases: int | None = None,
    blocks: int | None = None,
    ridge: float | None = None,
    row_bound: float | None = None,
) -> Plan:
    """Return Algorithms 1, 2 and 4 with the numbers that are given, and the theorems' where none are.

    The minimisers are found by Newton's method with a certificate (`tailguard.certified`), which reaches a hundredth of
    C/(λm) where the paper's adaptive subgradient method promises 1 and 1/6 of it.

    Parameters
    ----------
    problem, privacy : Problem, Privacy
        The public facts.
    phases, blocks : int, optional
        T and J.
    ridge : float, optional
        λ_1.
    row_bound : float, optional
        Minimise by Algorithm 3, as printed, with rows cut to this length. The loss must have a bounded slope.

    Raises
    ------
    BudgetError
        When Algorithm 3 may take more than two million iterations; the sentence says how many.

    Notes
    -----
    *Guarantee.* The noise is the printed one. It is made for sensitivities of 6·C/(λm) in each stage; ours are 2.02, so
    that `verify` finds 0.337·ε spent, and 4 with Algorithm 3: 0.667·ε.
    """
    if not isinstance(problem.loss, Loss) or not proved(problem.loss) or problem.loss.smoothness is None:
        rule = "a convex loss of tailguard, of predictions, with a bounded second derivative"
        raise refuse("loss", f"{NAME} with parameters='paper'", rule, problem.loss)
    found = arcs(problem, privacy, NAME, phases=phases, blocks=blocks, ridge=ridge)
    stages = output_phases(problem, privacy, found, certified=row_bound is None)
    solver = DoubleOutput(problem.loss, problem.domain, problem.n, problem.d, BITS, stages, row_bound)
    if row_bound is not None:
        _check_iterations(solver, problem.loss, real("row_bound", row_bound, NAME, above=0.0))
    kind = Minimiser if row_bound is None else JointMinimiser
    return Plan(
        recipe=NAME,
        parameters="paper",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=tuple(
            output_step(name, problem, privacy, stage, kind)
            for stage in stages
            for name in ("localisation", "solution")
        ),
        sources=(
            *SOURCES,
            ("radius", "Lowy 2026, Algorithm 2, ζ = 3"),
            ("noise", "Lowy 2026, Algorithms 2 and 4"),
            ("predicted_error", THEOREM_UNIT),
        ),
        predicted_error=predicted(lowy.double_output_risk, problem, privacy),
    )


def _check_iterations(solver: DoubleOutput, loss: Loss, row_bound: float) -> None:
    """Refuse what Algorithm 3 cannot finish; the second stage takes longer, and neither depends on the records."""
    view, middle = View(solver.d), solver.domain.project(np.zeros(solver.d))
    most = max(
        JointMinimiser(
            view, loss, phase.clip, phase.ridge, middle, size, BITS, solver.domain, row_bound, SECOND_ACCURACY
        ).iterations
        for phase in solver.phases
        for size in phase.sizes(solver.n)
    )
    if most > MOST_ITERATIONS:
        raise BudgetError(
            f"Algorithm 3 of Lowy 2026 may take {most:.1e} iterations here, more than {MOST_ITERATIONS:.0e}; without "
            "'row_bound' the same minimisers are found by Newton's method."
        )


RECIPE = Recipe(
    name=NAME,
    source="Lowy 2026, Algorithms 1, 2 and 4",
    summary="Pure privacy by noisy minimisers of the clipped loss, twice in every phase; the printed reference.",
    planners={("regression", "paper"): paper_regression},
)
