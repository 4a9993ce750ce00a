"""One figure from settings to files: tables, a picture, and the page that shows all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tailguard.reproduction.draw import draw
from tailguard.reproduction.figures import FAST, FULL, Figure, Part
from tailguard.reproduction.page import FOLDER, page
from tailguard.reproduction.readings import Readings
from tailguard.reproduction.real import missing
from tailguard.reproduction.results import Line, save, summarise
from tailguard.reproduction.runner import Job, jobs, measure

__all__ = ["Study"]


@dataclass(frozen=True)
class Study:
    """A figure with everything that decides its numbers.

    Parameters
    ----------
    figure : Figure
        Which one.
    fast : bool
        Whether the grid is the small one.
    repetitions, seed : int
        How often, and from which seed all others follow.
    readings : Readings
        How the text is read.
    data : Path or None
        Folder of real data.
    """

    figure: Figure
    fast: bool
    repetitions: int
    seed: int
    readings: Readings
    data: Path | None = None

    @cached_property
    def parts(self) -> list[Part]:
        """What is measured; nothing where a figure needs data and there are none."""
        return self.figure.parts(self.readings, FAST if self.fast else FULL, self.data)

    @property
    def absent(self) -> str:
        """One sentence about real data that are not there; empty if nothing is missing."""
        if self.figure.source is not None:
            return ""
        sentence = missing([part.label for part in self.parts])
        return f"Figure {self.figure.number} lacks data: {sentence}" if sentence else ""

    @cached_property
    def jobs(self) -> list[Job]:
        """Its repetitions."""
        return jobs(self.figure, self.parts, self.repetitions, self.seed, self.readings)

    def files(self, folder: Path) -> dict[str, Path]:
        """Return what `carry_out` writes."""
        stem = folder / FOLDER / self.figure.name
        return {
            "fits": stem.with_name(f"{self.figure.name}-fits.csv"),
            "table": stem.with_suffix(".csv"),
            "picture": stem.with_suffix(".png"),
            "page": folder / "hu.md",
        }

    def carry_out(self, folder: Path, processes: int, advance: Callable[[], None] = lambda: None) -> list[Line]:
        """Measure, write all files, and return the lines of the table."""
        rows = measure(self.jobs, processes, advance)
        lines = summarise(rows, self.seed, self.readings.changed)
        files = self.files(folder)
        save(files["fits"], rows)
        save(files["table"], lines)
        draw(self.figure, self.parts, lines, files["picture"])
        files["page"].write_text(page(folder), encoding="utf-8")
        return lines
