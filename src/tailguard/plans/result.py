"""The numbers of a release as plain JSON values: what a model file holds, and what a certificate is for."""

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

from tailguard.solvers.base import EVERYWHERE
from tailguard.solvers.class_descent import ClassEstimate
from tailguard.solvers.measures import Evaluated

if TYPE_CHECKING:
    from tailguard.plans.release import Release

__all__ = ["LEVEL", "result_hash", "result_of", "uncertainty_of"]

LEVEL = 0.95
"""Level of the intervals in reports and files."""


def result_of(release: "Release") -> dict[str, Any]:
    """Return the coefficients, the intercept (or one for each class), and what is known of their error.

    Where predictions are held in a range, or rows drawn back into one, it is there too.
    """
    estimate = release.estimate
    held: dict[str, Any] = {}
    if estimate.prediction_range != EVERYWHERE:
        held["prediction_range"] = list(estimate.prediction_range)
    if estimate.feature_range is not None:
        ends = estimate.feature_range
        held["feature_range"] = {"centres": list(ends.centres), "rates": list(ends.rates), "radius": ends.radius}
    return {
        "coefficients": estimate.coefficients.tolist(),
        "intercept": estimate.offsets.tolist() if isinstance(estimate, ClassEstimate) else float(estimate.intercept),
        "uncertainty": uncertainty_of(release),
        **held,
    }


def uncertainty_of(release: "Release") -> dict[str, Any] | None:
    """Return standard errors and intervals; None where the recipe releases none, and in a cell that is not finite."""
    if isinstance(release.estimate, Evaluated):
        return _of_measures(release.estimate)
    found = release.estimate.uncertainty
    if found is None:
        return None
    size, offset = release.estimate.coefficients.size, release.plan.problem.intercept
    errors = [_finite(error) for error in found.std_error]
    ends = [[_finite(end) for end in pair] for pair in found.interval(LEVEL)]
    return {
        "level": LEVEL,
        "standard_errors": errors[:size],
        "intervals": ends[:size],
        "intercept_standard_error": errors[size] if offset else None,
        "intercept_interval": ends[size] if offset else None,
    }


def result_hash(result: dict[str, Any]) -> str:
    """Return the SHA-256 of a result, by which a certificate names the one that it is for."""
    # Not canonical(): a coefficient that is not finite must not keep a result from having a certificate.
    text = json.dumps(result, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _of_measures(estimate: Evaluated) -> dict[str, Any]:
    fields = ("standard_error", "privacy_error", "low", "high")
    return {
        measure.name: {field: _finite(getattr(measure, field)) for field in fields} for measure in estimate.measures
    }


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
