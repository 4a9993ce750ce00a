"""OpenDP's bounded mean and its Theil-Sen regression on one feature. Runs in OpenDP's environment.

OpenDP's noise cannot be seeded; the seed fixes the matching of records alone.
"""

from importlib.metadata import version

import numpy as np
import opendp.prelude as dp
from wire import serve

dp.enable_features("contrib", "honest-but-curious")


def fit(request, arrays):
    """Fit a mean or a line; a distance of 2 between data sets of one size is one replaced record."""
    np.random.seed(request["seed"] % 2**32)  # noqa: NPY002 - OpenDP shuffles with the global generator
    return _mean(request, arrays) if request["task"] == "mean" else _line(request, arrays)


def _mean(request, arrays):
    released = []
    for column, low, high, scale in zip(arrays["rows"].T, *arrays["bounds"], arrays["scales"], strict=True):
        space = (
            dp.vector_domain(dp.atom_domain(bounds=(float(low), float(high))), size=len(column)),
            dp.symmetric_distance(),
        )
        noise = dp.m.then_laplace if request["pure"] else dp.m.then_gaussian
        measurement = dp.t.make_mean(*space) >> noise(scale=float(scale))
        released.append(measurement(np.clip(column, low, high).tolist()))
    return {"intercept": 0.0}, {"coefficients": np.array(released)}


def _line(request, arrays):
    model = dp.sklearn.linear_model.LinearRegression(
        dp.max_divergence(),
        x_bounds=[tuple(arrays["bounds"][:, 0].tolist())],
        y_bounds=tuple(arrays["target_bounds"].tolist()),
        scale=request["scale"],
    )
    fitted = model.fit(arrays["rows"], arrays["target"])
    claimed = float(model.measurement.map(2))
    return {"intercept": float(fitted.intercept_), "claimed": claimed}, {"coefficients": np.array(fitted.coef_)}


if __name__ == "__main__":
    serve(fit, {"opendp": version("opendp")})
