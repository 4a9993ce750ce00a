"""Squared error: least squares."""

from dataclasses import dataclass

from tailguard.losses.base import FloatArray, ResidualLoss, where_number

__all__ = ["Squared"]


@dataclass(frozen=True)
class Squared(ResidualLoss):
    """Half squared error, φ(p, t) = ½ (p − t)².

    Its minimiser is the conditional mean. The derivative has no bound, so the sensitivity of a gradient
    always comes from clipping.

    Examples
    --------
    >>> Squared().derivative([1.0, 2.0], [0.0, 5.0])
    array([ 1., -3.])
    """

    name = "squared"
    convex = True
    smoothness = 1.0
    lipschitz = None

    def _psi(self, residual: FloatArray) -> FloatArray:
        return 0.5 * residual * residual

    def _slope(self, residual: FloatArray) -> FloatArray:
        return residual

    def _curvature(self, residual: FloatArray) -> FloatArray:
        return where_number(residual, 1.0)
