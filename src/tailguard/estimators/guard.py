"""What an estimator inside a session does not take part in, and outside warns of: scores, and fits to resampled rows.

Cross-validation, bagging and calibration fit to parts or multiples of the rows and judge by exact data. A split that
looks at labels, or a row that is drawn twice, breaks the guarantee of a fit; a score that is looked at was never paid
for. Fits to the rows of two classes, to labelled rows or to inliers publish how many of them there are, and fits of one
class against the rest how many classes occur. A session knows the number of its rows, but a resample may have as many.
So the guard looks at who is calling, which does not depend on the number or kind of workers: scikit-learn's helpers
call `fit` from their own modules.
"""

import sys
import warnings
from typing import Any

from tailguard.errors import BudgetError

__all__ = ["inherited", "refuse_resampling", "refuse_score", "warn_of_resampling"]

_RESAMPLING = (
    "sklearn.model_selection",
    "sklearn.ensemble",
    "sklearn.calibration",
    "sklearn.multiclass",
    "sklearn.semi_supervised",
    "sklearn.linear_model",  # RANSAC
)
_FOLDS = "_rfe_single_fit"
"""What eliminates columns inside a fold; elimination on all rows is no harm, and every fit of it is paid."""


def refuse_resampling(estimator: Any) -> None:
    """Raise `BudgetError` if a session's estimator is used by scikit-learn's tools that resample rows."""
    module = None if estimator.session is None else _resampler()
    if module is not None:
        raise BudgetError(
            f"{type(estimator).__name__} inside a session does not work with {module}, which selects or resamples "
            "rows, or judges by exact data: use tg.select to choose and tg.evaluate to judge."
        )


def warn_of_resampling(estimator: Any) -> None:
    """Warn of scikit-learn's tools that resample rows where no session refuses them and noise is meant to protect."""
    module = _resampler() if estimator.session is None and estimator.random_state is None else None
    if module is not None:
        warnings.warn(
            f"{type(estimator).__name__} keeps its promise for each fit alone: what {module} chooses or shows of "
            "several fits and exact scores is not private. Use tg.select to choose and tg.evaluate to judge.",
            stacklevel=2,
        )


def _resampler() -> str | None:
    """Return the module of scikit-learn that is calling and resamples rows, if one is."""
    frame = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        name = frame.f_code.co_name
        # A search that is only shown asks for tags too, through its own, and does no harm.
        if (module.startswith(_RESAMPLING) and name != "__sklearn_tags__") or name == _FOLDS:
            return ".".join(module.split(".")[:2])
        frame = frame.f_back  # type: ignore[assignment]
    return None


def inherited(model: Any) -> Any:
    """Return the session of a model, or of one inside it: the last step of a pipeline, or the chosen one of several.

    None without any.
    """
    model = getattr(model, "best_estimator_", model)
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    found = [value for name, value in parameters.items() if name.rpartition("__")[2] == "session"]
    return next((session for session in found if session is not None), None)


def refuse_score(estimator: Any) -> None:
    """Raise `BudgetError` for a score inside a session."""
    if estimator.session is not None:
        raise BudgetError(
            f"{type(estimator).__name__} inside a session has no score, which is computed from exact data and not "
            "private: use tg.evaluate."
        )
