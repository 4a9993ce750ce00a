"""Public value types to plain JSON values and back, strictly.

A value type is written as {"type": "package.Class", field: …}. Only classes of tailguard's own value hierarchies are
read back, with exactly their fields, so that a file can neither name arbitrary code nor smuggle a field.
"""

import dataclasses
import hashlib
import json
import math
from functools import cache
from typing import Any

from tailguard.domains.base import Domain
from tailguard.errors import PlanError
from tailguard.losses.base import Loss, RecordLoss
from tailguard.mechanisms.base import Mechanism
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Moment, Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.privacy.events import Event
from tailguard.solvers.base import Setting, Solver

__all__ = ["canonical", "decode", "digest", "dumps", "encode", "loads", "strict_json"]

_ROOTS: tuple[type, ...] = (
    Plan,
    Problem,
    Moment,
    Step,
    Privacy,
    Event,
    Mechanism,
    Loss,
    RecordLoss,
    Domain,
    Solver,
    Setting,
)

_OURS = "tailguard."
_classes: dict[str, type] = {}


@cache
def _tag(cls: type) -> str:
    """Return "package.Class": the class name alone would confuse the event and the mechanism of one name."""
    package = cls.__module__.removeprefix(_OURS).split(".")[0]
    return f"{package}.{cls.__name__}"


def _subclasses(cls: Any) -> list[type]:
    found: list[type] = [cls]
    for sub in cls.__subclasses__():
        found += _subclasses(sub)
    return found


def _known() -> dict[str, type]:
    classes = {cls for root in _ROOTS for cls in _subclasses(root)}
    # Another package's class could share the tag of ours, and a file must not choose which of them adds the noise.
    return {_tag(cls): cls for cls in classes if dataclasses.is_dataclass(cls) and cls.__module__.startswith(_OURS)}


def _class(tag: str) -> type | None:
    if tag not in _classes:
        _classes.update(_known())
    return _classes.get(tag)


@cache
def _fields(cls: Any) -> tuple[str, ...]:
    """Return the fields that make up the value; those that do not compare (a custom gradient) stay behind."""
    return tuple(field.name for field in dataclasses.fields(cls) if field.init and field.compare)


@cache
def _optional(cls: Any) -> frozenset[str]:
    """Return the fields that are left out where they are None."""
    return frozenset(field.name for field in dataclasses.fields(cls) if field.metadata.get("optional"))


def encode(value: Any) -> Any:
    """Return `value` as dicts, lists, strings, finite numbers, booleans and None."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value) + 0.0  # −0.0 equals 0.0 and must look like it
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if dataclasses.is_dataclass(value) and isinstance(value, _ROOTS):
        cls: Any = type(value)
        absent = {name for name in _optional(cls) if getattr(value, name) is None}
        fields = {name: encode(getattr(value, name)) for name in _fields(cls) if name not in absent}
        return {"type": _tag(cls), **fields}
    raise PlanError(f"A plan cannot hold a value of type {type(value).__name__!r}.")


def decode(data: Any) -> Any:
    """Return the value that `encode` wrote; anything unexpected is a `PlanError`."""
    if isinstance(data, list):
        return tuple(decode(item) for item in data)
    if not isinstance(data, dict):
        return data
    cls = _class(str(data.get("type")))
    if cls is None:
        raise PlanError(f"The plan holds an unknown type: {data.get('type')!r}.")
    fields = {name: decode(item) for name, item in data.items() if name != "type"}
    odd = sorted(set(fields) ^ set(_fields(cls)) - (_optional(cls) - set(fields)))
    if odd:
        raise PlanError(f"The fields of {data['type']!r} in the plan are wrong: {', '.join(odd)}.")
    try:
        return cls(**fields)
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise PlanError(f"The plan holds a wrong {data['type']!r}: {error}") from error


def canonical(value: Any) -> str:
    """Return JSON values as text, in the one form over which digests are taken."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def digest(plan: Plan) -> str:
    """Return the SHA-256 of the plan's canonical JSON: equal plans have equal digests."""
    return _hash(canonical(encode(plan)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def dumps(plan: Plan, *, indent: int | None = 2) -> str:
    """Return the plan and its digest as JSON."""
    body = encode(plan)
    document = {"plan": body, "digest": _hash(canonical(body))}
    return json.dumps(document, indent=indent, allow_nan=False, ensure_ascii=False)


def loads(text: str) -> Plan:
    """Return the plan of a JSON text whose digest fits; otherwise raise `PlanError`."""
    try:
        document = strict_json(text, "plan")
        written = canonical(document["plan"])
        # The digest first: what was altered need not be understood.
        altered = len(document) != 2 or _hash(written) != document["digest"]
        plan = None if altered else decode(document["plan"])
    except PlanError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise PlanError("The file is not a tailguard plan.") from error
    if altered or (isinstance(plan, Plan) and canonical(encode(plan)) != written):
        raise PlanError("The plan was altered: its digest does not fit its content.")
    if not isinstance(plan, Plan):
        raise PlanError("The file is not a tailguard plan.")
    return plan


def strict_json(text: str, what: str) -> Any:
    """Return the values of a JSON text; `what` it should be is named in errors."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) != len(pairs):  # a reader and a program may each believe another one
            raise PlanError(f"The {what} gives a field twice.")
        return fields

    def refuse_constant(name: str) -> None:
        raise PlanError(f"The {what} holds {name}, which is no number.")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse_constant)
    except PlanError:
        raise
    except (ValueError, RecursionError) as error:
        raise PlanError(f"The file is not a tailguard {what}.") from error
