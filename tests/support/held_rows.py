"""What a model file says of rows, with long ones really drawn back: an arithmetic of its own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["held_scores"]


def held_scores(model: dict[str, Any], X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of a model's numbers for rows that are drawn back into its `feature_range`, if it has one."""
    if "feature_range" in model:
        ends = model["feature_range"]
        centre, rates = np.array(ends["centres"]), np.array(ends["rates"])
        lengths = np.sqrt(np.sum(((X - centre) * rates) ** 2, axis=1))
        X = centre + (X - centre) * np.minimum(1.0, ends["radius"] / lengths)[:, np.newaxis]
    return X @ np.array(model["coefficients"]) + model["intercept"]
