"""From settings to files, in small: equal seeds make equal tables, and the page is made from tables alone."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest

from tailguard.errors import BudgetError, DataError
from tailguard.reproduction.figures import FIGURES
from tailguard.reproduction.methods import METHODS, REFERENCES, methods_of
from tailguard.reproduction.page import over_n, page
from tailguard.reproduction.readings import Readings
from tailguard.reproduction.results import FITTED, Line, Row, load, save, summarise
from tailguard.reproduction.runner import jobs, measure
from tailguard.reproduction.study import Study
from tests.support.small_figures import TINY


def small(name, seed=1, processes=1, widths=1):
    """Two repetitions of the first settings of a figure; planning takes the time, so there are few."""
    figure, readings = FIGURES[name], Readings()
    work = jobs(figure, figure.parts(readings, TINY), 2, seed, readings)[: 2 * widths]
    return [replace(row, seconds=0.0) for row in measure(work, processes)]


@pytest.fixture(scope="module")
def rows():
    return small("fig7", widths=4)


def test_seeds_repeat_rows_in_any_number_of_processes():
    first, again, other = small("fig5"), small("fig5", processes=2), small("fig5", seed=2)
    assert list(map(repr, again)) == list(map(repr, first))
    assert [row.excess for row in other] != [row.excess for row in first]


def test_every_cell_has_every_method_and_reference(rows):
    cells = FIGURES["fig7"].parts(Readings(), TINY)[0].cells()
    for method in methods_of(3):
        mine = [row for row in rows if row.method == method.name]
        assert len(mine) == 2 * len(cells)
        assert len({row.seed for row in mine}) == len(mine)
        assert all(row.outcome != FITTED or row.delta == pytest.approx(row.n**-1.1) for row in mine)
    for name in REFERENCES:
        assert {(row.n, row.d, row.sparsity) for row in rows if row.method == name} == {
            (cell.n, cell.d, cell.sparsity) for cell in cells
        }


def test_references_are_what_they_say(rows):
    by_name = {name: [row.excess for row in rows if row.method == name] for name in REFERENCES}
    assert by_name["zero"] == pytest.approx([5.0] * len(by_name["zero"]))
    assert by_name["truth"] == by_name["minimiser"] == [0.0] * len(by_name["truth"])
    assert 0.0 < max(by_name["non-private"]) < min(by_name["zero"])


def test_a_refused_plan_is_a_row_with_its_sentence(monkeypatch):
    def refuse(case):
        raise BudgetError("Too few rows.")

    monkeypatch.setitem(METHODS, "sparse_rounds", replace(METHODS["sparse_rounds"], plan=refuse))
    rows = small("fig7")
    refused = [row for row in rows if row.method == "sparse_rounds"]
    assert {row.outcome for row in refused} == {"Too few rows."}
    line = next(line for line in summarise(rows) if line.method == "sparse_rounds")
    assert (line.repetitions, line.refused) == (0, 2)
    assert math.isnan(line.median)


def row(excess, **changed):
    setting = Row("fig1", "", "zero", 10, 2, 0, math.nan, math.nan, 0, 5, excess, excess, 1.0)
    return replace(setting, **changed)


def test_lines_are_quartiles():
    (line,) = summarise([row(value) for value in (1.0, 2.0, 3.0, 4.0, 90.0)], seed=7, readings="normal=sd")
    assert (line.median, line.low, line.high, line.mean) == (3.0, 2.0, 4.0, 20.0)
    assert (line.repetitions, line.refused, line.seed, line.readings) == (5, 0, 7, "normal=sd")


def test_an_overflow_is_a_bad_fit_and_not_a_missing_one():
    (line,) = summarise([row(math.nan), row(math.inf), row(1.0)])
    assert line.median > 1e299
    assert line.repetitions == 3


def test_tables_are_read_as_they_were_written(rows, tmp_path):
    lines = summarise(rows, seed=1)
    save(tmp_path / "fig7.csv", lines)
    with (tmp_path / "fig7.csv").open() as file:
        assert next(csv.reader(file)) == list(Line.__dataclass_fields__)
    again = load(tmp_path / "fig7.csv")
    assert [line.method for line in again] == [line.method for line in lines]
    assert [line.median for line in again] == pytest.approx([line.median for line in lines], rel=1e-5, nan_ok=True)
    with pytest.raises(DataError, match="not a table"):
        load(tmp_path / "nothing.csv")
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not a table"):
        load(tmp_path / "wrong.csv")


def test_a_study_writes_its_files(tiny, tmp_path):
    study = Study(FIGURES["fig5"], True, 1, 0, Readings(signs="positive"))
    files = study.files(tmp_path)
    files["table"].parent.mkdir()
    steps = []
    lines = study.carry_out(tmp_path, 1, lambda: steps.append(1))
    assert len(steps) == len(study.jobs)
    assert all(path.stat().st_size > 0 for path in files.values())
    assert files["picture"].read_bytes().startswith(b"\x89PNG")
    text = files["page"].read_text("utf-8")
    assert "## Figure 5" in text
    assert "hu/fig5.png" in text
    assert "Readings: `signs=positive`" in text
    assert page(tmp_path) == text
    heads, cells = over_n(lines)
    assert heads[0] == "d = 12, ε = 1"
    assert all(len(cell) == len(heads) for cell in cells)


def test_the_page_without_tables_has_the_readings(tmp_path):
    text = page(tmp_path)
    assert "## Figure" not in text
    assert "`--lognormal` | `sigma2`" in text


def test_the_published_page_is_what_its_tables_say():
    results = Path(__file__).resolve().parents[2] / "docs" / "results"
    assert (results / "hu.md").read_text("utf-8") == page(results)
    assert all((results / "hu" / f"{name}.png").is_file() for name in FIGURES if f"hu/{name}.png" in page(results))
