"""What a rate is: a theorem's formula as a function, with the exponents that a benchmark can compare to."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tailguard.theory.setting import Setting

__all__ = ["HALF", "MINUS_KAPPA", "Exponent", "Rate"]


@dataclass(frozen=True)
class Exponent:
    """An exponent as a function of the moment order p: constant + slope·κ with κ = 1 − 1/p.

    Every exponent of every paper has this form.

    Parameters
    ----------
    constant, slope : Fraction or int
        Its two numbers.

    Examples
    --------
    >>> halved = Exponent(Fraction(1, 2), Fraction(1, 2))
    >>> halved(2.0), str(halved)
    (0.75, '1/2 + κ/2')
    """

    constant: Fraction | int = 0
    slope: Fraction | int = 0

    def __call__(self, order: float) -> float:
        """Return the exponent at moment order p."""
        return float(self.constant) + float(self.slope) * (1.0 - 1.0 / order)

    def __str__(self) -> str:
        slope, constant = Fraction(self.slope), str(self.constant).replace("-", "−")
        if not slope:
            return constant
        size = abs(slope)
        term = ("" if size.numerator == 1 else str(size.numerator)) + "κ"
        term += "" if size.denominator == 1 else f"/{size.denominator}"
        if not self.constant:
            return term if slope > 0 else f"−{term}"
        return f"{constant} {'+' if slope > 0 else '−'} {term}"


HALF = Fraction(1, 2)
MINUS_KAPPA = Exponent(0, -1)
"""The exponent of n and of ε in most of the rates."""


@dataclass(frozen=True)
class Rate:
    """One line of the table of theorems.

    Parameters
    ----------
    name : str
        Unique name.
    paper, statement : str
        Where it is stated.
    kind : {"upper", "lower"}
        What an algorithm reaches, or what none can beat.
    task : {"mean", "convex", "strongly convex", "polytope", "sparse"}
        Means are measured by the Euclidean error, the other tasks by the excess risk. A polytope's theorems count its
        vertices and its ℓ1 diameter; convex ones are about balls of the ℓ2 norm.
    privacy : {"none", "pure", "approximate", "concentrated"}
        The class of algorithms: ε-DP, (ε, δ)-DP or ρ-zCDP, or no privacy at all.
    moment : {"coordinate", "direction", "norm", "data"}
        What is assumed to have a moment, as in `tailguard.Moment`: coordinates, directions or the norm of a mean's
        records or of a loss's gradients, or coordinates of the data (x, y) of a regression. It decides the exponent of
        d.
    orders : tuple of float
        Smallest and largest moment order of the statement.
    explicit : bool
        Whether the constants are the proved ones ("bound"); otherwise hidden constants are 1 and hidden logarithms
        are left out ("rate").
    formula : str
        The formula as text.
    function : callable
        The formula as a function of a `Setting`.
    exponent_n, exponent_d, exponent_epsilon : Exponent
        Exponents of the leading term that depends on ε (of the only term, without privacy), logarithms left out;
        `exponent_d` is None for statements about d = 1.
    exponent_sampling : Exponent or None
        Exponent of n in the leading term that would be there without privacy, or None if there is no such term.
    caveat : str
        What is wrong with the statement or its proof as printed; empty if nothing is known.
    """

    name: str
    paper: str
    statement: str
    kind: Literal["upper", "lower"]
    task: Literal["mean", "convex", "strongly convex", "polytope", "sparse"]
    privacy: Literal["none", "pure", "approximate", "concentrated"]
    moment: Literal["coordinate", "direction", "norm", "data"]
    orders: tuple[float, float]
    explicit: bool
    formula: str
    function: Callable[[Setting], float]
    exponent_n: Exponent
    exponent_d: Exponent | None
    exponent_epsilon: Exponent
    exponent_sampling: Exponent | None = None
    caveat: str = ""

    def __call__(self, setting: Setting) -> float:
        """Return the rate or bound in this setting."""
        return self.function(setting)
