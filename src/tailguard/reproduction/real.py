"""The real data of section 6.1, as far as files of them are at hand."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tailguard.domains import L1Ball
from tailguard.errors import DataError
from tailguard.losses import Logistic, Squared
from tailguard.reproduction.laws import Single
from tailguard.reproduction.objectives import LogLoss, Squares
from tailguard.reproduction.population import Population, records
from tailguard.reproduction.worlds import Facts, Source, World, start_in_ball
from tailguard.run.randomness import DataGenerator
from tailguard.statistics.arrays import FloatMatrix, FloatVector

__all__ = ["DATA_SETS", "Real", "find", "missing"]

DATA_SETS = {
    "Blog Feedback": ("blog",),
    "Twitter": ("twitter", "buzz"),
    "Winnipeg": ("winnipeg",),
    "Year Prediction": ("year",),
}
"""The four data sets, and how the names of their Parquet files begin."""

TARGET = "target"


@dataclass(frozen=True)
class Real(Source):
    """A data set as a finite population: records are drawn from it without replacement, fits are judged on all of it.

    Parameters
    ----------
    path : str
        A Parquet file of numbers with a column `target`.
    logistic : bool
        Whether the target is a label. One with more than two values becomes "above its median".
    standard : bool
        Whether columns, and a target that is a number, are centred and divided by their standard deviation. That is
        done on the whole data set without privacy, for all methods alike.
    """

    path: str
    logistic: bool
    standard: bool = True

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of records and of features."""
        X, _ = _load(self)
        n, d = X.shape
        return n, d

    def world(self, d: int, sparsity: int, generator: DataGenerator) -> World:  # noqa: ARG002
        """Return a repetition: an order of the records, and a start."""
        X, y = _load(self)
        order, start = generator.permutation(len(y)), start_in_ball(d, generator)

        def draw(n: int) -> tuple[Single, FloatVector]:
            chosen = order[:n]
            return X[chosen], y[chosen]

        loss = Logistic() if self.logistic else Squared()
        return World(loss, L1Ball(d, 1.0), 0.0, _facts(self), start, _population(self), draw)


def find(folder: Path, *, logistic: bool, standard: bool) -> dict[str, Real]:
    """Return what the folder holds of the four data sets, by name.

    Where several files fit, one with two labels is taken for logistic regression and one with numbers for linear. A
    target that is the same everywhere is no task.
    """
    found = {}
    for name, beginnings in DATA_SETS.items():
        candidates = [path for path in sorted(folder.glob("*.parquet")) if path.name.lower().startswith(beginnings)]
        labelled = dict(_usable(candidates))
        fitting = [path for path, two in labelled.items() if two == logistic] or list(labelled)
        if fitting and (logistic or not labelled[fitting[0]]):
            found[name] = Real(str(fitting[0]), logistic, standard)
    return found


def missing(found: Collection[str]) -> str:
    """Return one sentence about the data sets that no found label begins with; empty if all are there."""
    names = [name for name in DATA_SETS if not any(label.startswith(name) for label in found)]
    files = ", ".join(f"{name} ({' or '.join(f'{start}*.parquet' for start in DATA_SETS[name])})" for name in names)
    return f"--data-dir gives no file with a varying column {TARGET!r} for {files}." if names else ""


def _usable(paths: list[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield the files whose target varies, and whether it has two values."""
    for path in paths:
        try:
            if TARGET in pq.ParquetFile(path).schema_arrow.names:
                values = len(np.unique(pq.read_table(path, columns=[TARGET])[TARGET].to_numpy()))
                if values > 1:
                    yield path, values == 2
        except (pa.ArrowException, OSError):
            raise DataError(f"{str(path)!r} is not a Parquet file.") from None


@lru_cache(maxsize=2)
def _load(source: Real) -> tuple[Single, FloatVector]:
    """Return features that vary, and the target; rows with a missing value are left out."""
    table = pq.read_table(source.path)
    y = np.asarray(table[TARGET].to_numpy(), dtype=np.float64)
    names = [name for name in table.column_names if name != TARGET]
    X = np.column_stack([np.asarray(table[name].to_numpy(), dtype=np.float64) for name in names])
    there = np.isfinite(y) & np.isfinite(X).all(axis=1)
    X, y = X[there], y[there]
    X = X[:, X.std(axis=0) > 0.0]
    if source.logistic:
        y = (y > np.median(y)).astype(np.float64) if len(np.unique(y)) > 2 else (y == y.max()).astype(np.float64)
    if source.standard:
        X, y = _standardised(X), y if source.logistic else _standardised(y)
    return np.ascontiguousarray(X, dtype=np.float32), y


def _standardised(values: FloatMatrix) -> FloatMatrix:
    return np.asarray((values - values.mean(axis=0)) / values.std(axis=0))


@lru_cache(maxsize=2)
def _facts(source: Real) -> Facts:
    X, y = _load(source)
    moments = Squares.of(X, y, intercept=False)
    loss = Logistic() if source.logistic else Squared()
    largest = float(np.diag(moments.covariance).max())
    return Facts.of(loss, 0.5 * moments.smoothness, largest, moments.target_variance, 0.0)


@lru_cache(maxsize=2)
def _population(source: Real) -> Population:
    X, y = _load(source)
    domain = L1Ball(X.shape[1], 1.0)
    if source.logistic:
        return records(LogLoss(X, y), LogLoss(X, y, free=False), domain)
    return records(Squares.of(X, y), Squares.of(X, y, intercept=False), domain)
