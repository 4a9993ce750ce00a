"""Differentially private models for heavy-tailed data, without asking anyone for a bound on the data."""

from tailguard import audit, domains, losses
from tailguard.errors import BudgetError, DataError, LedgerError, ParameterError, PlanError, TailguardError
from tailguard.estimators import LinearRegression, LogisticRegression, Mean
from tailguard.plans import Moment, Plan, Problem, Release, verify
from tailguard.privacy import Privacy
from tailguard.recipes import list_recipes

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "DataError",
    "LedgerError",
    "LinearRegression",
    "LogisticRegression",
    "Mean",
    "Moment",
    "ParameterError",
    "Plan",
    "PlanError",
    "Privacy",
    "Problem",
    "Release",
    "TailguardError",
    "audit",
    "domains",
    "list_recipes",
    "losses",
    "verify",
]
