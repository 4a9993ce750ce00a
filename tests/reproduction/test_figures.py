"""The table of figures is section 6's."""

from pathlib import Path

import pytest

from tailguard.reproduction.figures import FAST, FIGURES, FULL, Cell
from tailguard.reproduction.methods import METHODS, methods_of
from tailguard.reproduction.readings import QUESTIONS, Readings


def cells(number, letter):
    figure = FIGURES[f"fig{number}"]
    return list(next(panel for panel in figure.panels if panel.letter == letter).cells(FULL))


def test_there_are_eleven():
    assert list(FIGURES) == [f"fig{number}" for number in range(1, 12)]
    assert [figure.algorithm for figure in FIGURES.values()] == [1, 1, 1, 1, 2, 2, 3, 3, 3, 5, 5]


@pytest.mark.parametrize("number", [1, 2, 5])
def test_dense_figures(number):
    assert {cell.n for cell in cells(number, "a")} == {10_000}
    assert {cell.epsilon for cell in cells(number, "b")} == {1.0}
    assert {cell.n for cell in cells(number, "b")} >= {10_000, 90_000}
    assert {200, 400, 800} <= {cell.d for cell in cells(number, "b")}


@pytest.mark.parametrize("number", [7, 8, 9, 10, 11])
def test_sparse_figures(number):
    assert {(cell.n, cell.sparsity) for cell in cells(number, "a")} == {(50_000, 20)}
    assert {(cell.epsilon, cell.sparsity) for cell in cells(number, "b")} == {(1.0, 20)}
    assert {(cell.epsilon, cell.n) for cell in cells(number, "c")} == {(1.0, 50_000)}


def test_panels_share_their_cells():
    part = FIGURES["fig1"].parts(Readings(), FULL)[0]
    assert len(part.cells()) == len(set(part.cells()))
    assert part.cells().count(Cell(10_000, 400, 0, 1.0)) == 1


def test_short_runs_have_fewer_cells():
    for figure in FIGURES.values():
        for short in figure.parts(Readings(), FAST):
            assert len(short.cells()) < len(figure.parts(Readings(), FULL)[0].cells()) / 2


@pytest.mark.parametrize("algorithm", [1, 2, 3, 5])
def test_every_figure_has_the_papers_recipe_and_ours(algorithm):
    chosen = methods_of(algorithm)
    assert {method.ours for method in chosen} == {True, False}
    assert [method.ours for method in chosen] == sorted(method.ours for method in chosen)
    assert all(method.name == name for name, method in METHODS.items())


def test_readings_are_checked_and_told():
    assert set(QUESTIONS) == set(Readings.__dataclass_fields__)
    assert Readings().changed == ""
    assert Readings(lognormal="sigma", ridge=0.1).changed == "lognormal=sigma ridge=0.1"
    for wrong in ({"normal": "both"}, {"ridge": -1.0}, {"factor": 0}, {"start": "here"}):
        with pytest.raises(ValueError, match="parameter of reproduce must be"):
            Readings(**wrong)


def test_the_guide_names_every_reading_and_its_default():
    guide = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text("utf-8")
    for name in QUESTIONS:
        assert f"| `--{name}` | `{getattr(Readings(), name)}` |" in guide
