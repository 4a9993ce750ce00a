"""As much of JSON Schema as certificates need, so that a file is understood before it is believed."""

import re
from typing import Any

__all__ = ["mismatch"]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def mismatch(value: Any, schema: dict[str, Any], place: str = "it") -> str | None:
    """Return where and how a JSON value departs from a schema, None where it does not.

    Knows `type`, `const`, `pattern`, `minimum`, `properties`, `required`, `additionalProperties` and `items`.

    Examples
    --------
    >>> mismatch({"n": 0}, {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}})
    "'n' is below 1"
    """
    if not schema:
        return None
    kinds = schema.get("type", list(_TYPES))
    if not any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return f"{place} has the wrong type"
    if "const" in schema and value != schema["const"]:
        return f"{place} is not {schema['const']!r}"
    if isinstance(value, str):
        return None if re.search(schema.get("pattern", ""), value) else f"{place} is written in another way"
    if isinstance(value, int | float) and not isinstance(value, bool) and value < schema.get("minimum", value):
        return f"{place} is below {schema['minimum']}"
    if isinstance(value, list) and "items" in schema:
        found = (mismatch(item, schema["items"], f"an item of {place}") for item in value)
        return next((wrong for wrong in found if wrong), None)
    return _fields(value, schema, place) if isinstance(value, dict) else None


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _fields(value: dict[str, Any], schema: dict[str, Any], place: str) -> str | None:
    properties, rest = schema.get("properties", {}), schema.get("additionalProperties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return f"{place} has no field {missing[0]!r}"
    for name, item in value.items():
        rule = properties.get(name, rest)
        if rule is False:
            return f"{place} has an unknown field"
        wrong = mismatch(item, rule, repr(name))
        if wrong is not None:
            return wrong
    return None
