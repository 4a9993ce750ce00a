"""Linear models with a target: what those of numbers share, and what those of two classes share."""

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from tailguard._validate import refuse
from tailguard.engines import Engine
from tailguard.estimators.base import LinearModel
from tailguard.estimators.guard import refuse_score
from tailguard.estimators.labelled import open_labelled
from tailguard.estimators.records import open_records, target
from tailguard.losses import Logistic

__all__ = ["Classifier", "Regressor", "TwoClasses"]


class Regressor(RegressorMixin, LinearModel):  # type: ignore[misc]
    """A linear model of a number."""

    def _open(self, X: Any, y: Any = None) -> Engine:
        return open_records(self, X, target(self, y))

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table, or path of a Parquet file
            Records, one a row.
        y : vector or str
            Targets, or the name of their column where X is a table or a file.
        """
        return self._learn(self._open(X, y))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the predictions for new rows, drawn back into `feature_range_` and held in `prediction_range_`.

        Without these they are X @ coef_ + intercept_.
        """
        return self._held_scores(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² on the given rows: computed from exact data, not private, refused inside a session."""
        refuse_score(self)
        return float(super().score(X, y, sample_weight))


class TwoClasses(ClassifierMixin, LinearModel):  # type: ignore[misc]
    """A linear model that tells two public classes apart: the last one where it is above 0."""

    classes: Sequence[Any]
    classes_: NDArray[Any]

    def _open(self, X: Any, y: Any = None) -> Engine:
        self.classes_ = self._public_classes()
        return open_labelled(self, X, y, self.classes_)

    def _public_classes(self) -> NDArray[Any]:
        try:
            classes = np.asarray(self.classes)
        except ValueError:  # of unequal lengths
            classes = np.empty(0)
        if classes.shape != (2,) or classes[0] == classes[1]:
            raise refuse("classes", type(self).__name__, "a sequence of two different labels", self.classes)
        return classes

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table, or path of a Parquet file
            Records, one a row.
        y : vector or str
            Labels, or the name of their column where X is a table or a file.
        """
        return self._learn(self._open(X, y))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the model's values for new rows, above 0 for the last class; for logistic models its log-odds.

        Rows are drawn back into `feature_range_`, and values held in `prediction_range_`; without these they are
        X @ coef_ + intercept_.
        """
        return self._held_scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of new rows; one with a missing value, whose probabilities are NaN, gets the first."""
        positive = self._scores(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the given rows: computed from exact data, not private, refused inside a session."""
        refuse_score(self)
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class Classifier(TwoClasses):
    """A linear model of the log-odds of two public classes."""

    def _loss(self) -> Logistic:
        return Logistic()

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of both classes for new rows; none is above n times the other, whatever a row is.

        Log-odds are held in `prediction_range_` besides.
        """
        scores = self._held_scores(X)
        most = math.log(max(self.plan_.problem.n, 2))
        positive = expit(np.clip(scores, -most, most))
        return np.column_stack([1.0 - positive, positive])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of all classes for new rows."""
        with np.errstate(divide="ignore"):  # of several classes one may have none at all
            return np.asarray(np.log(self.predict_proba(X)))
