"""Checks of the parts of a plan. Numbers are stored as plain Python ones, so that equal plans have equal digests."""

from typing import Any

from tailguard._validate import refuse

__all__ = ["instance", "store"]


def instance(name: str, value: object, owner: str, kinds: Any, rule: str) -> None:
    """Raise the library's sentence unless `value` is of one of these types; it names the type, not the value."""
    if not isinstance(value, kinds):
        raise refuse(name, owner, rule, type(value).__name__)


def store(value: object, **fields: object) -> None:
    """Set checked fields of a frozen dataclass while it is made."""
    for name, field in fields.items():
        object.__setattr__(value, name, field)
