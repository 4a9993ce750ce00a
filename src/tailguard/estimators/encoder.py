"""Categories as columns of zeros and ones, from public levels: nothing is learned from the data."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from tailguard._validate import refuse
from tailguard.errors import DataError
from tailguard.estimators.cells import array_of, column_cells, refuse_mask, table, written_numbers
from tailguard.estimators.labels import equal
from tailguard.estimators.records import numbers

__all__ = ["PublicOneHotEncoder", "header"]


class PublicOneHotEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """One column of zeros and ones for each public level of a category; all other columns pass through as numbers.

    An encoder that reads the levels from the data tells which rare ones occur, and so does one that complains about a
    level that it does not know. Here the levels are a parameter, and anything else, missing values too, is a row of
    zeros. Nothing is learned from the data, so that it may stand before any private estimator in a pipeline.

    Parameters
    ----------
    categories : mapping from column to sequence of levels
        Columns by name, or by number for data without names; the levels of each in the order of the new columns.
    drop_first : bool, default=False
        Whether the first level has no column: it is then what the intercept stands for.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        Number and names of the columns that were seen by `fit`, as in scikit-learn.

    Notes
    -----
    *Guarantee.* A row of the output depends on that row of the input alone, and no value raises or warns. The levels
    must not come from the data.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"region": ["north", "south", "mars"], "age": [30, 40, 50]})
    >>> encoder = PublicOneHotEncoder({"region": ["north", "south"]}).set_output(transform="pandas")
    >>> encoder.fit_transform(frame)
       region_north  region_south   age
    0           1.0           0.0  30.0
    1           0.0           1.0  40.0
    2           0.0           0.0  50.0
    """

    def __init__(self, categories: Mapping[Any, Sequence[Any]], *, drop_first: bool = False) -> None:
        self.categories = categories
        self.drop_first = drop_first

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Take note of the number and names of the columns; no value is looked at."""
        names, count = header(X)
        self._levels(names, count)
        self.n_features_in_ = count
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the encoded rows."""
        refuse_mask(X, "X")
        X = table(X, "X") if isinstance(X, list | tuple) else X
        names, count = header(X)
        self._check(names, count)
        levels = self._levels(names, count)
        columns: list[NDArray[np.float64]] = []
        for j in range(count):
            column = _column(X, j, names)
            if j in levels:
                cells = column_cells(column)
                columns += [equal(cells, level).astype(np.float64) for level in levels[j]]
            else:
                columns.append(_passed_through(array_of(column)))
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the new columns: those of levels are called "column_level"."""
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            names = [str(name) for name in input_features]
        elif known is not None:
            names = list(known)
        else:
            check_is_fitted(self, "n_features_in_")
            names = [f"x{j}" for j in range(self.n_features_in_)]
        levels = self._levels(names if known is not None or self._by_name else None, len(names))
        found = [([name] if j not in levels else [f"{name}_{v}" for v in levels[j]]) for j, name in enumerate(names)]
        return np.array([name for part in found for name in part], dtype=object)

    @property
    def _by_name(self) -> bool:
        return any(isinstance(column, str) for column in self.categories)

    def _check(self, names: list[str] | None, count: int) -> None:
        """Refuse other columns than `fit` has seen; the encoder works without `fit` too."""
        known = getattr(self, "feature_names_in_", None)
        if known is not None and names is not None and list(known) != names:
            raise DataError("The columns are not those that the encoder was fitted on, in their order.")
        if getattr(self, "n_features_in_", count) != count:
            raise DataError(f"The encoder was fitted on {self.n_features_in_} columns, the records have {count}.")

    def _levels(self, names: list[str] | None, count: int) -> dict[int, list[Any]]:
        """Return the levels that get a column, by the number of their category's column."""
        if not isinstance(self.categories, Mapping):
            kind = type(self.categories).__name__
            raise refuse("categories", "PublicOneHotEncoder", "a mapping from columns to levels", kind)
        levels = {}
        for column, values in self.categories.items():
            place = names.index(column) if names is not None and column in names else column
            if isinstance(place, bool) or not isinstance(place, int | np.integer) or not 0 <= place < count:
                rule = "a mapping from columns that the data have"
                raise refuse("categories", "PublicOneHotEncoder", rule, column)
            if isinstance(values, str) or len(set(values)) < len(list(values)):
                raise refuse("categories", "PublicOneHotEncoder", "of different levels for each column", values)
            levels[int(place)] = list(values)[bool(self.drop_first) :]
        return levels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def header(X: Any) -> tuple[list[str] | None, int]:
    """Return the names of the columns, if they have any, and their number."""
    labels = getattr(X, "column_names", None)
    if labels is None:
        labels = getattr(X, "columns", None)
    if labels is not None:
        names = list(labels)
        return (names if all(isinstance(name, str) for name in names) else None), len(names)
    shape = np.shape(X) if hasattr(X, "shape") else table(X, "X").shape
    if len(shape) != 2:
        raise DataError(f"X must have two dimensions, rows and features, not {len(shape)}.")
    return None, shape[1]


def _column(X: Any, j: int, names: list[str] | None) -> Any:
    """Return a column in its own type."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    if names is not None and hasattr(X, "column_names"):
        return X.column(j)
    if names is not None:
        return X[names[j]]
    return np.asarray(X)[:, j]


def _passed_through(column: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column that is no category as numbers."""
    if column.dtype.kind in "UST":
        return written_numbers(column)
    with np.errstate(all="ignore"):  # a wider type may overflow; a warning would tell
        return np.asarray(numbers(column, "X"), dtype=np.float64)
