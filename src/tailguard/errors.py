"""What can go wrong, by cause. Every message is one sentence and none of them shows a data value."""

__all__ = ["BudgetError", "DataError", "LedgerError", "ParameterError", "PlanError", "TailguardError"]


class TailguardError(Exception):
    """Base of every error that tailguard raises on purpose."""


class ParameterError(TailguardError, ValueError):
    """A parameter breaks its rule: which parameter, which rule, what was got."""


class DataError(TailguardError, ValueError):
    """The records have a wrong shape or type, or cannot be found. Never mentions a value."""


class BudgetError(TailguardError, ValueError):
    """The budget cannot carry what was asked; known from public facts, before any record is read."""


class PlanError(TailguardError, ValueError):
    """A plan is malformed, was altered, or costs more than it promises."""


class LedgerError(TailguardError, RuntimeError):
    """What was performed is not what was planned, or a session's ledger cannot be trusted; nothing is returned."""
