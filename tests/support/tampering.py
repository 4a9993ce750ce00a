"""Every single change to the JSON of a plan."""

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any

Path = tuple[Any, ...]
NUMBERS = (
    0,
    -1,
    1,
    7,
    2**70,
    10**400,
    0.0,
    -0.5,
    1.5,
    5e-324,
    1e-300,
    1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
)
OTHERS = (None, True, False, "", "other", [], {}, [1.0], {"type": "privacy.Privacy", "epsilon": 1.0, "delta": 0.0})


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the path and the value of every number, string, boolean and null."""
    if isinstance(tree, dict | list):
        for key, child in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves(child, (*path, key))
    else:
        yield path, tree


def objects(tree: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the path and the fields of every object."""
    if isinstance(tree, dict):
        yield path, tree
    if isinstance(tree, dict | list):
        for key, child in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from objects(child, (*path, key))


def alternatives(value: Any, tags: list[str]) -> Iterator[Any]:
    """Yield other values for a leaf: near and far, of its own type and of others."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from (value * 2, value / 2, value + 1, value - 1, -value, str(value))
        yield float(value) if isinstance(value, int) else int(value)
    elif isinstance(value, str):
        yield from (value + " ", value.upper(), *(tags if value in tags else ()))
    yield from NUMBERS
    yield from OTHERS


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same text."""
    return json.dumps(one) == json.dumps(other)


def changed(tree: Any, path: Path, value: Any) -> Any:
    """Return a copy with another value at the path; whatever is not on the path is shared with the tree."""
    key, *rest = path
    result = copy.copy(tree)
    result[key] = changed(tree[key], tuple(rest), value) if rest else value
    return result


def without(tree: Any, path: Path, key: str) -> Any:
    """Return a copy without one field of the object at the path."""
    if not path:
        return {name: value for name, value in tree.items() if name != key}
    return changed(tree, path[:1], without(tree[path[0]], path[1:], key))


def forged(body: Any) -> str:
    """Return a document around an altered plan, with the digest that fits it."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return json.dumps({"plan": body, "digest": hashlib.sha256(canonical.encode()).hexdigest()})
