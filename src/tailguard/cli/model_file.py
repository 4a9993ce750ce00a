"""Model files: the released model with the plan that it came from, as one JSON document.

The plan inside has its own digest, which stands for what was promised. A second checksum over the whole document
notices damage and careless edits; it is no signature.
"""

import hashlib
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tailguard.cli.console import check_readable
from tailguard.errors import DataError, PlanError
from tailguard.plans import Plan, Release, dumps, loads
from tailguard.plans.result import result_of
from tailguard.solvers.feature_range import FeatureRange

__all__ = ["Model", "document", "names_of", "read_model", "read_plan", "read_result", "read_text"]

FORMAT = "tailguard model 1"

HELD = ("prediction_range", "feature_range")
"""What only a model has whose predictions are held in a range, or whose rows are drawn back into one."""


@dataclass(frozen=True)
class Model:
    """What `predict` and `evaluate` need of a model file; `margins` says that its values are no log-odds.

    More than two classes have `rows` of coefficients and `offsets` instead of one vector and an intercept. Predicted
    numbers and log-odds may be held `within` a range, rows drawn back to where they `end`, log-odds are at most `most`.
    A simulation is not `private`, and neither is what it predicts.
    """

    names: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    classes: tuple[str, ...] | None
    margins: bool = False
    target: str | None = None
    rows: tuple[tuple[float, ...], ...] = ()
    offsets: tuple[float, ...] = ()
    within: tuple[float, float] | None = None
    ends: FeatureRange | None = None
    most: float = math.inf
    private: bool = True

    @property
    def used(self) -> tuple[bool, ...]:
        """Whether each column has a coefficient other than 0."""
        return tuple(any(values) for values in zip(*(self.rows or (self.coefficients,)), strict=True))


def document(
    release: Release, names: tuple[str, ...], target: str | None = None, classes: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """Return a release as plain JSON values."""
    result = result_of(release)
    body = {
        "format": FORMAT,
        "private": release.private,
        "model": {
            "columns": list(names),
            "coefficients": result["coefficients"],
            "intercept": result["intercept"],
            "target": target,
            "classes": None if classes is None else list(classes),
            **{name: result[name] for name in HELD if name in result},
        },
        "uncertainty": result["uncertainty"],
        "guarantee": {"epsilon": release.guarantee.epsilon, "delta": release.guarantee.delta},
        "numerics": release.numerics,
        "versions": dict(release.versions),
        "promise": json.loads(dumps(release.plan)),
    }
    return {**body, "checksum": _checksum(body)}


def read_plan(path: Path) -> Plan:
    """Return the plan of a plan file, or of a model file that was not altered and is no simulation."""
    text = read_text(path)
    body = _body(text)
    if not {"plan", "model"} & body.keys():
        raise PlanError(f"{str(path)!r} is no plan, no model and no certificate of tailguard.")
    if "model" not in body:
        return loads(text)
    _check(body)
    if not _is_private(body):
        raise PlanError("The model is a simulation from a seed: it is NOT PRIVATE, whatever its plan promises.")
    return loads(json.dumps(body.get("promise")))


def read_model(path: Path) -> Model:
    """Return the model of a model file that was not altered."""
    body = _body(read_text(path))
    if "model" not in body:
        raise _no_model(path)
    _check(body)
    try:
        model = _model(**body["model"])
        problem = body["promise"]["plan"]["problem"]
        margins, most = problem["loss"]["type"] == "losses.Hinge", math.log(max(problem["n"], 2))
    except (TypeError, ValueError, KeyError):  # a checksum that fits proves no sense
        raise _no_model(path) from None
    if model.target is None:
        raise DataError(f"{str(path)!r} holds a mean, which predicts nothing.")
    return replace(model, margins=margins, most=most, private=_is_private(body))


def _is_private(body: dict[str, Any]) -> bool:
    return body.get("private") is True and "NOT PRIVATE" not in str(body.get("numerics"))


def read_result(path: Path) -> dict[str, Any]:
    """Return numbers and names of a model file, of any kind, that was not altered: what its certificate is for."""
    body = _body(read_text(path))
    if "model" not in body:
        raise _no_model(path)
    _check(body)
    try:
        model = body["model"]
        numbers = {name: model[name] for name in ("coefficients", "intercept")}
        held = {name: model[name] for name in HELD if name in model}
        return {**names_of(body), **numbers, "uncertainty": body["uncertainty"], **held}
    except (TypeError, KeyError):
        raise _no_model(path) from None


def names_of(body: dict[str, Any]) -> dict[str, Any]:
    """Return what columns, target and classes of a model document are called."""
    return {name: body["model"][name] for name in ("columns", "target", "classes")}


def _model(
    columns: Any,
    coefficients: Any,
    intercept: Any,
    target: Any,
    classes: Any,
    prediction_range: Any = None,
    feature_range: Any = None,
) -> Model:
    names, label = tuple(str(name) for name in columns), None if target is None else str(target)
    labels = None if classes is None else tuple(str(one) for one in classes)
    if labels is not None and len(labels) > 2:
        rows = tuple(_numbers(names, row) for _, row in zip(labels, coefficients, strict=True))
        return Model(names, (), 0.0, labels, target=label, rows=rows, offsets=_numbers(labels, intercept))
    if labels is not None and len(labels) != 2:
        raise ValueError
    within, ends = _within(prediction_range), _ends(names, feature_range)
    slopes = _numbers(names, coefficients)
    return Model(names, slopes, float(intercept), labels, target=label, within=within, ends=ends)


def _within(prediction_range: Any) -> tuple[float, float] | None:
    if prediction_range is None:
        return None
    low, high = (float(end) for end in prediction_range)
    if not low <= high:
        raise ValueError
    return low, high


def _ends(names: tuple[str, ...], feature_range: Any) -> FeatureRange | None:
    if feature_range is None:
        return None
    numbers = {name: _numbers(names, feature_range[name]) for name in ("centres", "rates")}
    ends = FeatureRange(**numbers, radius=float(feature_range["radius"]))
    if not (ends.radius > 0.0 and all(rate >= 0.0 for rate in ends.rates)):
        raise ValueError
    return ends


def _numbers(names: tuple[str, ...], values: Any) -> tuple[float, ...]:
    """Return as many numbers as there are names."""
    return tuple(float(value) for _, value in zip(names, values, strict=True))


def _no_model(path: Path) -> DataError:
    return DataError(f"{str(path)!r} is not a model file of 'tailguard fit'.")


def _body(text: str) -> dict[str, Any]:
    """Return the fields of a JSON document; none where it is no such document, or gives a field twice."""
    try:
        body = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):  # a reader and a program may each believe another one
        raise ValueError
    return fields


def _check(body: dict[str, Any]) -> None:
    rest = {name: value for name, value in body.items() if name != "checksum"}
    if body.get("format") != FORMAT or body.get("checksum") != _checksum(rest):
        raise PlanError("The model file was altered: its checksum does not fit its content.")


def _checksum(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_text(path: Path) -> str:
    """Return the text of a file."""
    check_readable(path)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{str(path)!r} cannot be read as text.") from None
