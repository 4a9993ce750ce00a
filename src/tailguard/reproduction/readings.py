"""Where the text of section 6 allows several readings: one field a question, the default first."""

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from tailguard._validate import choice, integer, real

__all__ = ["QUESTIONS", "Readings"]

QUESTIONS = {
    "lognormal": "Lognormal(0, v): v is σ² (sigma2), as in the printed density, or σ (sigma).",
    "normal": "N(0, v): v is the variance or the standard deviation (sd).",
    "laplace": "Laplace(5): 5 is the scale or the variance.",
    "signs": "Entries of w* in the ℓ1 ball: of both signs, or positive.",
    "start": "The paper's recipes start at a random point of the domain, or at zero.",
    "noise10": "Noise of figure 10: logistic, as in the text, or lognormal, as in the caption.",
    "scaling": "Real data: columns and target centred and divided by their deviation (standard), or not (none).",
    "ridge": "λ of 'regularized' logistic regression, figures 10 and 11: λ‖w‖²/2 is added to the risk.",
    "factor": "The integer c in s = c·s* of Algorithm 3.",
    "shift": "The integer c₂ in k = c₂·nε of Algorithm 5.",
}
"""What each field decides, in words for help and documents."""


@dataclass(frozen=True)
class Readings:
    """How the ambiguous places of Hu et al. 2022, section 6, are read.

    Parameters
    ----------
    lognormal : {"sigma2", "sigma"}
        What 0.6 and 0.5 are in Lognormal(0, ·).
    normal : {"variance", "sd"}
        What 5 and 0.1 are in N(0, ·).
    laplace : {"scale", "variance"}
        What 5 is in Laplace(5).
    signs : {"both", "positive"}
        Signs of the entries of w* where the domain is the ℓ1 ball.
    start : {"random", "zero"}
        Where the paper's recipes start.
    noise10 : {"logistic", "lognormal"}
        The noise of figure 10.
    scaling : {"standard", "none"}
        What is done to the columns of real data; with "standard" it is done without privacy, for all methods alike.
    ridge : float
        λ of the regularised logistic loss.
    factor, shift : int
        The unnamed integers of Algorithms 3 and 5.

    Examples
    --------
    >>> Readings(normal="sd").changed
    'normal=sd'
    """

    lognormal: Literal["sigma2", "sigma"] = "sigma2"
    normal: Literal["variance", "sd"] = "variance"
    laplace: Literal["scale", "variance"] = "scale"
    signs: Literal["both", "positive"] = "both"
    start: Literal["random", "zero"] = "random"
    noise10: Literal["logistic", "lognormal"] = "logistic"
    scaling: Literal["standard", "none"] = "standard"
    ridge: float = 0.01
    factor: int = 1
    shift: int = 1

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(type(self)).items():
            if get_args(hint):
                choice(name, getattr(self, name), "reproduce", get_args(hint))
        real("ridge", self.ridge, "reproduce", at_least=0.0)
        integer("factor", self.factor, "reproduce")
        integer("shift", self.shift, "reproduce")

    @property
    def changed(self) -> str:
        """The readings that are not the default, as text; empty where all of them are."""
        values = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return " ".join(f"{name}={value}" for name, value, default in values if value != default)
