"""A loss given by its gradient, record by record."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailguard._validate import refuse
from tailguard.losses.base import FloatArray, RecordLoss

__all__ = ["CustomLoss"]

RecordFunction = Callable[[FloatArray, FloatArray, FloatArray | None], ArrayLike]


class _Functions:
    """What a custom loss is given beside its name; annotated here, so that the dataclass has one field."""

    _gradient: RecordFunction | None
    _value: RecordFunction | None


@dataclass(frozen=True, init=False)
class CustomLoss(_Functions, RecordLoss):
    """Any loss ℓ(w, (z, t)), given by the gradient of each record.

    Nothing is assumed of it: not convex, no bound on slope or curvature. Two custom losses are equal when
    their names are, and a plan stores the name alone; read back without its functions, the loss can be
    planned with, verified and printed, but not evaluated.

    Parameters
    ----------
    name : str
        How plans and reports call it.
    gradient : callable, optional
        gradient(point, rows, target) → (m, k): one row per record, one column per coefficient of `point`.
    value : callable, optional
        value(point, rows, target) → (m,), one number per record; no private fit needs it.

    Notes
    -----
    *Guarantee.* Each row of the gradient is bounded before it is summed, so its size is free. Row i must
    depend on `point` and record i alone: functions that mix records (a batch average, a rank), keep state, or
    raise on some value break the guarantee, and no bound on the result can repair it.

    Examples
    --------
    >>> def gradient(point, rows, target):
    ...     return 4.0 * (point - rows) ** 3
    >>> CustomLoss("quartic", gradient).gradient([1.0], [[0.0], [3.0]])
    array([[  4.],
           [-32.]])
    """

    name: str

    convex = False
    smoothness = None
    lipschitz = None

    def __init__(self, name: str, gradient: RecordFunction | None = None, value: RecordFunction | None = None) -> None:
        if not isinstance(name, str) or not name:
            raise refuse("name", "CustomLoss", "a name in words", name)
        for parameter, function in (("gradient", gradient), ("value", value)):
            if function is not None and not callable(function):
                raise refuse(parameter, "CustomLoss", "a function of (point, rows, target)", function)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_gradient", gradient)
        object.__setattr__(self, "_value", value)

    def value(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatArray:
        """Return the loss of each record, by the function given."""
        return _call("value", self._value, point, rows, target)

    def gradient(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatArray:
        """Return the gradient of each record, by the function given."""
        return _call("gradient", self._gradient, point, rows, target)


def _call(
    parameter: str,
    function: RecordFunction | None,
    point: ArrayLike,
    rows: ArrayLike,
    target: ArrayLike | None,
) -> FloatArray:
    if function is None:
        raise refuse(parameter, "CustomLoss", "given before the loss is evaluated", None)
    w, z = np.asarray(point, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    t = None if target is None else np.asarray(target, dtype=np.float64)
    with np.errstate(all="ignore"):
        result = np.asarray(function(w, z, t), dtype=np.float64)
    shape = (len(z), len(w)) if parameter == "gradient" else (len(z),)
    if result.shape != shape:
        raise refuse(parameter, "CustomLoss", f"a function that returns an array of shape {shape}", result.shape)
    return result
