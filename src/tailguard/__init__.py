"""Differentially private models for heavy-tailed data, without asking anyone for a bound on the data.

Names are imported on first use, so that `import tailguard` and `tailguard --help` take no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tailguard import audit, domains, losses, plans, report
    from tailguard.errors import BudgetError, DataError, LedgerError, ParameterError, PlanError, TailguardError
    from tailguard.estimators import (
        Evaluation,
        Lasso,
        LeastAbsoluteDeviations,
        LinearRegression,
        LinearSVC,
        LogisticRegression,
        Mean,
        PublicOneHotEncoder,
        RobustRegression,
        Selection,
        SparseLinearRegression,
        SparseLogisticRegression,
        SparseMean,
        evaluate,
        minimize,
        select,
    )
    from tailguard.ledger import Session
    from tailguard.plans import Moment, Plan, Problem, Release, Scales, verify
    from tailguard.privacy import Privacy
    from tailguard.recipes import advise, list_recipes

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "DataError",
    "Evaluation",
    "Lasso",
    "LeastAbsoluteDeviations",
    "LedgerError",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "Mean",
    "Moment",
    "ParameterError",
    "Plan",
    "PlanError",
    "Privacy",
    "Problem",
    "PublicOneHotEncoder",
    "Release",
    "RobustRegression",
    "Scales",
    "Selection",
    "Session",
    "SparseLinearRegression",
    "SparseLogisticRegression",
    "SparseMean",
    "TailguardError",
    "advise",
    "audit",
    "domains",
    "evaluate",
    "list_recipes",
    "losses",
    "minimize",
    "plans",
    "report",
    "select",
    "verify",
]

_HOMES = {
    "errors": ("BudgetError", "DataError", "LedgerError", "ParameterError", "PlanError", "TailguardError"),
    "estimators": (
        *("Lasso", "LeastAbsoluteDeviations", "LinearRegression", "LinearSVC", "LogisticRegression", "Mean"),
        *("RobustRegression", "SparseLinearRegression", "SparseLogisticRegression", "SparseMean", "minimize"),
        *("Evaluation", "PublicOneHotEncoder", "Selection", "evaluate", "select"),
    ),
    "ledger": ("Session",),
    "plans": ("Moment", "Plan", "Problem", "Release", "Scales", "verify"),
    "privacy": ("Privacy",),
    "recipes": ("advise", "list_recipes"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_PACKAGES = (
    *("audit", "domains", "engines", "errors", "estimators", "ledger", "losses", "mechanisms"),
    *("plans", "privacy", "recipes", "report", "run", "solvers", "statistics", "theory"),
)

if not TYPE_CHECKING:  # a type checker must not believe that every name exists

    def __getattr__(name: str) -> object:
        """Import a public name, or a subpackage, when it is first asked for."""
        if name in _HOME:
            value = getattr(import_module(f"tailguard.{_HOME[name]}"), name)
        elif name in _PACKAGES:
            value = import_module(f"tailguard.{name}")
        else:
            raise AttributeError(f"module 'tailguard' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
