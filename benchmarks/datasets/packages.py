"""Real tables that packages on PyPI carry: scikit-learn's, and statsmodels' where it is installed."""

from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.datasets.real import Real
from benchmarks.objective import Matrix, Vector

__all__ = ["development", "held_out"]

Table = tuple[Matrix, Vector]


def _statsmodels(name: str, target: str, drop: tuple[str, ...] = (), positive: bool = False) -> Table:
    import statsmodels.datasets

    table = getattr(statsmodels.datasets, name).load_pandas().data
    y = table[target].to_numpy(np.float64)
    X = table.drop(columns=[target, *drop]).to_numpy(np.float64)
    return X, (y > 0.0).astype(np.float64) if positive else y


def _sklearn(name: str) -> Table:
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    # Digits become a question with two answers: is it even?
    return np.asarray(X, np.float64), np.asarray(y % 2 == 0 if name == "digits" else y, np.float64)


def development() -> list[Real]:
    """Return the sets that recipes may be looked at on."""
    real = [Real("diabetes", partial(_sklearn, "diabetes"), held_out=False)]
    if find_spec("statsmodels") is None:
        return real
    return [
        Real("randhie visits", partial(_statsmodels, "randhie", "mdvis"), held_out=False),
        Real("fair affairs", partial(_statsmodels, "fair", "affairs"), held_out=False),
        *real,
    ]


def held_out() -> list[Real]:
    """Return the others."""
    real = [Real(name, partial(_sklearn, name), held_out=True) for name in ("breast_cancer", "digits")]
    if find_spec("statsmodels") is None:
        return real
    return [
        Real("randhie any visit", partial(_statsmodels, "randhie", "mdvis", positive=True), held_out=True),
        Real("fair any affair", partial(_statsmodels, "fair", "affairs", positive=True), held_out=True),
        Real("anes96 vote", partial(_statsmodels, "anes96", "vote"), held_out=True),
        Real("engel", partial(_statsmodels, "engel", "foodexp"), held_out=True),
        Real("star98", partial(_statsmodels, "star98", "NABOVE", drop=("NBELOW",)), held_out=True),
        *real,
    ]
