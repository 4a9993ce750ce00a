"""diffprivlib's LinearRegression, LogisticRegression and mean. Runs in diffprivlib's environment."""

from importlib.metadata import version

import numpy as np
from diffprivlib.models import LinearRegression, LogisticRegression
from diffprivlib.tools import mean
from wire import serve


class Recorded(LinearRegression):
    """The library's own class; it keeps the released means, which bound what is perturbed next."""

    @staticmethod
    def _preprocess_data(*arguments, **options):
        result = LinearRegression._preprocess_data(*arguments, **options)
        Recorded.offsets = np.asarray(result[2]), float(np.asarray(result[3]).ravel()[0])
        return result


def fit(request, arrays):
    """Fit a mean, a linear or a logistic model; without bounds the library takes them from the data."""
    return {"mean": _mean, "linear": _linear, "logistic": _logistic}[request["task"]](request, arrays)


def _mean(request, arrays):
    bounds = tuple(arrays["bounds"]) if "bounds" in arrays else None
    released = mean(arrays["rows"], epsilon=request["epsilon"], bounds=bounds, axis=0, random_state=request["seed"])
    return {"intercept": 0.0}, {"coefficients": np.asarray(released)}


def _linear(request, arrays):
    bounded = "bounds" in arrays
    model = Recorded(
        epsilon=request["epsilon"],
        bounds_X=tuple(arrays["bounds"]) if bounded else None,
        bounds_y=tuple(arrays["target_bounds"]) if bounded else None,
        fit_intercept=request["fit_intercept"],
        random_state=request["seed"],
    ).fit(arrays["rows"], arrays["target"])
    offset, target_offset = Recorded.offsets
    used = {
        "coefficients": np.asarray(model.coef_, dtype=float),
        "bounds": np.asarray(model.bounds_X) - offset,
        "target_bounds": np.asarray(model.bounds_y).ravel() - target_offset,
    }
    return {"intercept": float(np.asarray(model.intercept_).ravel()[0])}, used


def _logistic(request, arrays):
    model = LogisticRegression(
        epsilon=request["epsilon"],
        data_norm=request["norm"],
        C=request["C"],
        fit_intercept=request["fit_intercept"],
        random_state=request["seed"],
    ).fit(arrays["rows"], arrays["target"])
    coefficients = np.asarray(model.coef_[0], dtype=float)
    return {"intercept": float(model.intercept_[0]), "norm": float(model.data_norm)}, {"coefficients": coefficients}


if __name__ == "__main__":
    serve(fit, {name: version(name) for name in ("diffprivlib", "scikit-learn")})
