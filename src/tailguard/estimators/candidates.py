"""Candidates of `select`: linear models, or pipelines that end in one, and the records that each of them sees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from tailguard._validate import refuse
from tailguard.engines import Engine
from tailguard.engines.checks import place
from tailguard.errors import DataError
from tailguard.estimators.base import LinearModel
from tailguard.estimators.cells import table
from tailguard.estimators.encoder import header
from tailguard.estimators.models import Regressor, TwoClasses
from tailguard.estimators.rowwise import RowWise, check_rowwise, tabular

__all__ = ["Candidates", "Entrant", "Shown", "named_candidates", "narrowed", "piped", "shown"]


@dataclass(frozen=True)
class Entrant:
    """A candidate.

    Attributes
    ----------
    estimator : LinearModel
        The linear model, or the last step of the pipeline.
    label : str
        What the pipeline calls it.
    steps : sequence of (str, transformer) or None
        What comes before it in a pipeline; None without one.
    columns : sequence or None
        Public columns of the records, by number or by name; None for all.
    """

    estimator: LinearModel
    label: str
    steps: Sequence[tuple[str, Any]] | None
    columns: Any

    @classmethod
    def of(cls, model: Any, columns: Any) -> "Entrant":
        """Return the candidate that a model is; the last step of a pipeline is its estimator."""
        if type(model) is not Pipeline:
            return cls(model, "", None, columns)
        for _, step in model.steps[:-1]:
            check_rowwise(step, "select")
        return cls(model.steps[-1][1], model.steps[-1][0], model.steps[:-1], columns)


Candidates = dict[str, Entrant]


@dataclass(frozen=True, eq=False)
class Shown:
    """The records, with all that candidates see of them side by side.

    Attributes
    ----------
    engine : Engine
        The records.
    columns : dict
        The numbers of the columns of the records that a candidate takes, by its name; None for all.
    places : dict
        The numbers of the engine's columns that its linear model sees; None for all.
    names : sequence of str
        Names of the engine's columns; none, or empty ones where there are none.
    prefixes : dict
        The fitted transformations of candidates, also of those that have none; empty where no candidate is a pipeline.
    """

    engine: Engine
    columns: dict[str, tuple[int, ...] | None]
    places: dict[str, tuple[int, ...] | None]
    names: Sequence[str]
    prefixes: dict[str, RowWise]


def named_candidates(candidates: Any) -> Candidates:
    """Return the candidates by name, if they can be compared."""
    rule = (
        "a mapping or a sequence of at least two linear models of tailguard, or pipelines that end in one, or of pairs "
        "of one and columns"
    )
    if not isinstance(candidates, Mapping):
        if not isinstance(candidates, Sequence) or isinstance(candidates, str):
            raise refuse("candidates", "select", rule, type(candidates).__name__)
        candidates = {str(number): candidate for number, candidate in enumerate(candidates)}
    pairs = {str(name): (found if isinstance(found, tuple) else (found, None)) for name, found in candidates.items()}
    kinds = [type(found).__name__ for found in candidates.values()]
    if len(pairs) < 2 or not all(len(pair) == 2 for pair in pairs.values()):
        raise refuse("candidates", "select", rule, kinds)
    named = {name: Entrant.of(*pair) for name, pair in pairs.items()}
    estimators = [entrant.estimator for entrant in named.values()]
    if not all(isinstance(estimator, Regressor | TwoClasses) for estimator in estimators):
        raise refuse("candidates", "select", rule, kinds)
    _check_alike(estimators)
    return named


def _check_alike(estimators: Sequence[LinearModel]) -> None:
    """Refuse models that cannot be compared with each other."""
    if len({isinstance(estimator, Regressor) for estimator in estimators}) > 1:
        raise refuse(
            "candidates", "select", "all for numbers or all for classes", [type(e).__name__ for e in estimators]
        )
    classes = [e._public_classes().tolist() for e in estimators if isinstance(e, TwoClasses)]
    if any(labels != classes[0] for labels in classes):
        raise refuse("candidates", "select", "for the same classes", classes)
    if any(estimator.session is not None for estimator in estimators):
        raise refuse("candidates", "select", "without sessions: select has one for all", "a session")


def shown(named: Candidates, opener: LinearModel, X: Any, y: Any) -> Shown:
    """Return the records for candidates; what pipelines make of them stands side by side, each of it once.

    Parameters
    ----------
    named : dict
        The candidates.
    opener : LinearModel
        Opens records and takes note of names and classes.
    X, y
        As `select` gets them.
    """
    if all(entrant.steps is None for entrant in named.values()):
        engine = opener._open(X, y)
        columns = {name: _columns(e.columns, engine.names, engine.d) for name, e in named.items()}
        return Shown(engine, columns, columns, engine.names or (), {})
    if isinstance(y, str):
        raise DataError("y must be a vector where candidates are pipelines, not the name of a column.")
    X = tabular(X)
    names, d = header(X)
    columns = {name: _columns(e.columns, names, d) for name, e in named.items()}
    prefixes = {name: RowWise(e.steps or (), narrowed(X, columns[name])) for name, e in named.items()}
    blocks: dict[Any, tuple[int, ...]] = {}
    places: dict[str, tuple[int, ...] | None] = {}
    parts, labels = [], list[str]()
    for name, entrant in named.items():
        key = columns[name], tuple(id(step) for _, step in entrant.steps or ())  # equal ones need be shown once
        if key not in blocks:
            prefix = prefixes[name]
            blocks[key] = tuple(range(len(labels), len(labels) + prefix.width))
            parts.append(prefix(narrowed(X, columns[name])))
            labels += prefix.names or [""] * prefix.width
        places[name] = blocks[key]
    engine = opener._open(np.column_stack(parts), y)
    return Shown(engine, columns, places, labels if any(labels) else (), prefixes)


def piped(entrant: Entrant, estimator: LinearModel, prefix: RowWise | None) -> Any:
    """Return a fitted candidate: the linear model, or the pipeline that ends in it."""
    if entrant.steps is None or prefix is None:
        return estimator
    return Pipeline([*prefix.steps, (entrant.label, estimator)])


def _columns(found: Any, names: Sequence[str] | None, d: int) -> tuple[int, ...] | None:
    """Return the numbers of public columns that are given by number or by name."""
    if found is None:
        return None
    numbers_ = []
    for column in found:
        if isinstance(column, str):
            numbers_.append(place(list(names or ()), column))
        elif isinstance(column, int | np.integer) and 0 <= column < d:
            numbers_.append(int(column))
        else:
            raise refuse("candidates", "select", f"with columns by name or from 0 to {d - 1}", column)
    if not numbers_ or len(set(numbers_)) < len(numbers_):
        raise refuse("candidates", "select", "with different columns, at least one", found)
    return tuple(numbers_)


def narrowed(X: Any, columns: tuple[int, ...] | None) -> Any:
    """Return some columns of rows."""
    if columns is None:
        return X
    if hasattr(X, "iloc"):
        return X.iloc[:, list(columns)]
    if hasattr(X, "column_names"):
        return X.select(list(columns))
    return (X if hasattr(X, "shape") else table(X, "X"))[:, list(columns)]
