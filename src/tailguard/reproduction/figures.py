"""The eleven figures of Hu et al. 2022, section 6, as tables of settings.

The text gives distributions, most fixed values and the range of n in figure 1(b); the other values on the axes are
only in the printed pictures, so the grids here are ours.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tailguard.reproduction.laws import Law
from tailguard.reproduction.readings import Readings
from tailguard.reproduction.real import Real, find
from tailguard.reproduction.worlds import Source, Synthetic

__all__ = ["FAST", "FIGURES", "FULL", "Axis", "Cell", "Figure", "Grid", "Panel", "Part"]

Axis = Literal["n", "d", "sparsity", "epsilon"]


@dataclass(frozen=True)
class Cell:
    """One setting: records, features, sparsity of w* (0: not sparse) and ε."""

    n: int = 10_000
    d: int = 400
    sparsity: int = 0
    epsilon: float = 1.0


@dataclass(frozen=True)
class Grid:
    """The values on the axes."""

    n: tuple[int, ...]
    d: tuple[int, ...]
    sparsity: tuple[int, ...]
    epsilon: tuple[float, ...]


FULL = Grid((10_000, 30_000, 50_000, 70_000, 90_000), (200, 400, 800), (10, 20, 40), (0.25, 0.5, 1.0, 2.0))
FAST = Grid((10_000, 20_000), (200, 400), (10, 20), (0.5, 1.0, 2.0))


@dataclass(frozen=True)
class Panel:
    """A panel of the paper: its letter, what runs along the axis, what tells its curves apart, what is fixed."""

    letter: str
    x: Axis
    by: Axis
    fixed: Cell

    def cells(self, grid: Grid) -> Iterator[Cell]:
        """Yield its settings; what is fixed beyond the grid is brought into it."""
        inside = {axis: min(getattr(self.fixed, axis), getattr(grid, axis)[-1]) for axis in ("n", "d", "sparsity")}
        fixed = replace(self.fixed, **inside)
        for value in getattr(grid, self.by):
            for x in getattr(grid, self.x):
                yield replace(fixed, **{self.by: value, self.x: x})


@dataclass(frozen=True)
class Part:
    """Panels with records from one source: a whole figure, or its part for one data set."""

    label: str
    source: Source
    panels: tuple[Panel, ...]
    grid: Grid

    def cells(self) -> list[Cell]:
        """Return the settings of all panels, each once."""
        return list(dict.fromkeys(cell for panel in self.panels for cell in panel.cells(self.grid)))


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Parameters
    ----------
    number : int
        1 to 11.
    title : str
        What it shows.
    algorithm : int
        Number of the algorithm in the paper.
    source : callable or None
        From the readings of the text to the distribution of the records; None for real data.
    panels : tuple of Panel
        Its pictures.
    logistic : bool
        Whether real data have labels.
    note : str
        Where the paper's comparison with the non-private fit is found.
    """

    number: int
    title: str
    algorithm: int
    source: Callable[[Readings], Source] | None
    panels: tuple[Panel, ...] = ()
    logistic: bool = False
    note: str = ""

    @property
    def name(self) -> str:
        """What users call it, "fig1" to "fig11"."""
        return f"fig{self.number}"

    def parts(self, readings: Readings, grid: Grid, folder: Path | None = None) -> list[Part]:
        """Return what is to be measured; for real data, with what the folder holds."""
        if self.source is not None:
            return [Part("", self.source(readings), self.panels, grid)]
        if folder is None:
            return []
        found = find(folder, logistic=self.logistic, standard=readings.scaling == "standard")
        return [_real_part(name, source, grid) for name, source in found.items()]


def _real_part(name: str, source: Real, grid: Grid) -> Part:
    """Return the pictures of a data set: over n with ε = 1, and over ε with all records (in short runs, with some)."""
    size, d = source.size
    most = size if grid is FULL else min(size, grid.n[-1])
    sizes = tuple(most // share for share in ((8, 4, 2, 1) if grid is FULL else (4, 1)))
    panels = (Panel("", "n", "d", Cell(d=d)), Panel("", "epsilon", "d", Cell(n=most, d=d)))
    return Part(f"{name} ({Path(source.path).stem})", source, panels, Grid(sizes, (d,), (0,), grid.epsilon))


def _lognormal(readings: Readings, value: float) -> Law:
    return Law("lognormal", math.sqrt(value) if readings.lognormal == "sigma2" else value)


def _normal(readings: Readings, value: float) -> Law:
    return Law("normal", math.sqrt(value) if readings.normal == "variance" else value)


def _dense(features: Callable[[Readings], Law], logistic: bool = False) -> Callable[[Readings], Synthetic]:
    def source(readings: Readings) -> Synthetic:
        noise = Law("none") if logistic else _normal(readings, 0.1)
        return Synthetic(features(readings), noise, logistic, positive=readings.signs == "positive")

    return source


def _sparse(noise: Callable[[Readings], Law]) -> Callable[[Readings], Synthetic]:
    return lambda readings: Synthetic(_normal(readings, 5.0), noise(readings), sparse=True)


def _gaussian_labels(readings: Readings) -> Synthetic:
    noise = Law("logistic", 0.5) if readings.noise10 == "logistic" else _lognormal(readings, 0.5)
    return Synthetic(_normal(readings, 5.0), noise, logistic=True, sparse=True, ridge=readings.ridge)


def _laplace_labels(readings: Readings) -> Synthetic:
    features = Law("laplace", 5.0 if readings.laplace == "scale" else math.sqrt(2.5))
    return Synthetic(features, Law("loggamma", 0.5), logistic=True, sparse=True, ridge=readings.ridge)


def _lognormal_features(readings: Readings) -> Law:
    return _lognormal(readings, 0.6)


_DENSE = (Panel("a", "epsilon", "d", Cell()), Panel("b", "n", "d", Cell()))
_STUDENT = (Panel("a", "epsilon", "d", Cell()), Panel("b", "n", "epsilon", Cell(d=200)))
_SPARSE = (
    Panel("a", "epsilon", "d", Cell(n=50_000, sparsity=20)),
    Panel("b", "n", "d", Cell(sparsity=20)),
    Panel("c", "sparsity", "d", Cell(n=50_000)),
)
_linear, _labels = _dense(_lognormal_features), _dense(_lognormal_features, logistic=True)

_NOTE1 = "(c) is d = 400 of (b). The text has one number: in (b), 0.14 at n = 10 000 and 0.03 at n = 90 000."

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure(1, "linear regression, lognormal features", 1, _linear, _DENSE, note=_NOTE1),
        Figure(2, "logistic regression, lognormal features", 1, _labels, _DENSE, note="(c) is d = 400 of (b)."),
        Figure(3, "linear regression, real data", 1, None),
        Figure(4, "logistic regression, real data", 1, None, logistic=True),
        Figure(5, "linear regression, lognormal features", 2, _linear, _DENSE, note="(c) is d = 200 of (b)."),
        Figure(
            6,
            "linear regression, Student t10 features",
            2,
            _dense(lambda _: Law("student", 10.0)),
            _STUDENT,
            note="(c) is ε = 1 of (b).",
        ),
        Figure(7, "sparse linear regression, lognormal noise", 3, _sparse(lambda r: _lognormal(r, 0.5)), _SPARSE),
        Figure(
            8, "sparse linear regression, log-logistic noise", 3, _sparse(lambda _: Law("loglogistic", 0.1)), _SPARSE
        ),
        Figure(9, "sparse linear regression, log-gamma noise", 3, _sparse(lambda _: Law("loggamma", 0.5)), _SPARSE),
        Figure(10, "sparse logistic regression, Gaussian features", 5, _gaussian_labels, _SPARSE),
        Figure(11, "sparse logistic regression, Laplace features", 5, _laplace_labels, _SPARSE),
    )
}
