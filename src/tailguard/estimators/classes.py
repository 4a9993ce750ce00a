"""Linear models of the probabilities of two or more public classes."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from tailguard._validate import refuse
from tailguard.engines import Engine
from tailguard.estimators.models import Classifier
from tailguard.estimators.records import matrix, products
from tailguard.losses import Logistic
from tailguard.losses.multinomial import Multinomial, softmax
from tailguard.recipes.base import Task
from tailguard.solvers.class_descent import ClassEstimate

__all__ = ["ManyClasses"]


class ManyClasses(Classifier):
    """A logistic model of two public classes, or a multinomial one of more."""

    @property
    def _task(self) -> Task:  # type: ignore[override]
        return "classes" if self._several else "regression"

    @property
    def _several(self) -> bool:
        return self._public_classes().size > 2

    def _loss(self) -> Logistic | Multinomial:  # type: ignore[override]
        return Multinomial(self._public_classes().size) if self._several else Logistic()

    def _public_classes(self) -> NDArray[Any]:
        try:
            classes = np.asarray(self.classes)
        except ValueError:  # of unequal lengths
            classes = np.empty(0)
        if classes.ndim != 1 or classes.size < 2 or len(set(classes.tolist())) < classes.size:
            raise refuse("classes", type(self).__name__, "a sequence of two or more different labels", self.classes)
        return classes

    def _learn(self, engine: Engine) -> Self:
        if not self._several:
            return super()._learn(engine)
        estimate = self._carry_out(engine).estimate
        assert isinstance(estimate, ClassEstimate)
        self.coef_, self.intercept_ = estimate.coefficients, estimate.offsets  # type: ignore[assignment]
        self.coef_std_error_ = self.intercept_std_error_ = None
        return self

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if not self._several:
            return super()._scores(X)
        return products(matrix(self, X), self.coef_) + self.intercept_

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of the last of two classes for new rows; for more classes a column of scores for each."""
        return self._scores(X) if self._several else super().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of new rows; one with a missing value, whose probabilities are NaN, gets the first."""
        if not self._several:
            return super().predict(X)
        scores = self._scores(X)
        return np.asarray(self.classes_[np.argmax(scores, axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of all classes for new rows."""
        return softmax(self._scores(X)) if self._several else super().predict_proba(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._several
        return tags
