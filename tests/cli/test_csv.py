"""CSV cells are numbers or missing; nothing is inferred, nothing is shown."""

import io

import numpy as np
import pyarrow.csv as pv
import pytest

from tailguard.cli.csv_file import CsvFile
from tailguard.cli.csv_lines import rows_only
from tailguard.errors import DataError, ParameterError

CELLS = {
    "1": 1.0,
    " -2.5 ": -2.5,
    "+3.": 3.0,
    ".5": 0.5,
    "1e3": 1000.0,
    "-1E-2": -0.01,
    "1e400": np.inf,
    "9" * 400: np.inf,
    "1e-400": 0.0,
    '"7"': 7.0,
    "": np.nan,
    "nan": np.nan,
    "inf": np.nan,
    "1_000": np.nan,
    '"1,000"': np.nan,
    "0x10": np.nan,
    "١": np.nan,
    "true": np.nan,
    "1 2": np.nan,
    "2021-03-04": np.nan,
    "NULL": np.nan,
}


def write(folder, text, encoding="utf-8"):
    path = folder / "a.csv"
    path.write_bytes(text.encode(encoding))
    return path


def test_cells(tmp_path):
    path = write(tmp_path, "\n".join(["x,y", *(f"{cell},1" for cell in CELLS)]) + "\n")
    x, y = CsvFile(path, ",").read(["x", "y"])
    assert np.array_equal(x, list(CELLS.values()), equal_nan=True)
    assert np.all(y == 1.0)


def test_numbers_survive_to_the_last_bit(tmp_path):
    values = np.random.default_rng(0).standard_cauchy(5000) * 10.0 ** np.arange(-50, 50).repeat(50)
    path = write(tmp_path, "x\n" + "\n".join(map(repr, values.tolist())))
    assert np.array_equal(CsvFile(path, ",").read(["x"])[0], values)


def test_no_line_is_a_row_too_few(tmp_path):
    file = CsvFile(write(tmp_path, "x\n1\n\n3\n"), ",")
    assert np.array_equal(file.read(["x"])[0], [1.0, np.nan, 3.0], equal_nan=True)
    assert file.count() == 3


def test_bytes_that_are_no_text_are_missing_values(tmp_path):
    path = write(tmp_path, "x,naïve\n1,é\né,2\n", "latin-1")
    assert np.array_equal(CsvFile(path, ",").read(["x"])[0], [1.0, np.nan], equal_nan=True)


def test_quotes_may_hold_delimiters(tmp_path):
    file = CsvFile(write(tmp_path, '"a;b";x\n";";2\n"say ""a;b""";3\n""";""";4\n'), ";")
    assert file.names == ("a;b", "x")
    assert np.array_equal(file.read(["x"])[0], [2.0, 3.0, 4.0])


def test_a_byte_order_mark_and_windows_lines_do_no_harm(tmp_path):
    file = CsvFile(write(tmp_path, "\ufeffx,y\r\n1,2\r\n"), ",")
    assert file.names == ("x", "y")
    assert [column.tolist() for column in file.read(["y", "x"])] == [[2.0], [1.0]]


def test_text_is_stripped(tmp_path):
    file = CsvFile(write(tmp_path, "x,label\n1, yes \n2,no\n"), ",")
    x, labels = file.read(["x"], ("label", lambda texts: (texts == "yes").astype(float)))
    assert x.tolist() == [1.0, 2.0]
    assert labels.tolist() == [1.0, 0.0]


def test_many_blocks_are_one_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tailguard.cli.csv_file.BLOCK_BYTES", 256)
    path = write(tmp_path, "x,y\n" + "\n".join(f"{k},{-k}" for k in range(2000)) + "\n")
    file = CsvFile(path, ",")
    x, y = file.read(["x", "y"])
    assert np.array_equal(x, np.arange(2000.0))
    assert np.array_equal(y, -x)
    assert file.count() == 2000


@pytest.mark.parametrize(
    "text", ["", "\n", "1,2\n3,4\n", " 1 ,-2e5\n", "Ada,34.5,f\n", "Ada,-3\n", "Ada,1e5\n", "2019,+1\n"]
)
def test_the_first_line_must_hold_names(tmp_path, text):
    with pytest.raises(DataError, match="must hold the names of the columns"):
        CsvFile(write(tmp_path, text), ",")


def test_years_and_places_are_names(tmp_path):
    assert CsvFile(write(tmp_path, "country,2019,0\nx,1,2\n")).names == ("country", "2019", "0")


def test_a_record_in_the_place_of_names_is_not_shown(tailguard, tmp_path):
    path = write(tmp_path, "Ada,34,34\n" + "Bob,35,36\n" * 2000)
    for words in (("fit", path, "--target", "cost"), ("mean", path), ("mean", path, "--columns", "cost")):
        sentence = tailguard(*words).sentence()
        assert "Ada" not in sentence
        assert "34" not in sentence.replace(str(path), "")


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "é"])
def test_delimiters_are_one_character(tmp_path, delimiter):
    with pytest.raises(ParameterError, match="The 'delimiter' parameter of a CSV file must be"):
        CsvFile(write(tmp_path, "x\n1\n"), delimiter)


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("a,b,c", ","),
        ("a;b;c", ";"),
        ("a\tb\tc", "\t"),
        ("a|b|c", "|"),
        ('"a,b";"c,d";e', ";"),
        ("income (EUR; gross),b,c", ","),
        ("one", ","),
    ],
)
def test_the_delimiter_is_found_in_the_first_line(tmp_path, header, delimiter):
    rows = [delimiter.join("123"[: len(header.split(delimiter))]) for _ in range(3)]
    file = CsvFile(write(tmp_path, "\n".join([header, *rows])))
    assert file.names == CsvFile(tmp_path / "a.csv", delimiter).names


def test_the_delimiter_does_not_depend_on_any_other_line(tmp_path):
    """Rows full of semicolons, quotes, or nothing: the same delimiter, and the same names."""
    rows = ["1,2", ";;;;;;;;,1", '"x|y|z|w|v",2', ",", "\t\t\t\t\t,3"]
    names = {CsvFile(write(tmp_path, f"a,b\n{row}\n")).names for row in rows}
    assert names == {("a", "b")}
    assert {CsvFile(write(tmp_path, f"a,b\n{row}\n")).count() for row in rows} == {1}


@pytest.mark.parametrize(("header", "refused"), [('a,"b', True), ('"a', True), ('a|b,"c;d', True), ('a;"b,c', False)])
def test_a_header_that_ends_inside_quotes_means_the_same_whatever_follows(tmp_path, header, refused):
    """A reader that asked for more would let the next lines decide the names, the delimiter and the error."""
    follow = ["1,2\n", '";;;;;;;"\n', '1"|2|3|4|5\n', "", '"' * 9, "x" * 200_000]
    said = set()
    for rows in follow:
        try:
            said.add(CsvFile(write(tmp_path, f"{header}\n{rows}")).names)
        except DataError as error:
            said.add(str(error))
    (outcome,) = said
    assert ("ends inside quotes" in outcome) == refused


LINES = {
    "too many cells": "7,8,9",
    "too few cells": "7",
    "no cell": "",
    "quote at the end": '7,"',
    "quote at the beginning": '"7,8',
    "quote in the middle": '7","8',
    "quotes": '"""""',
    "return": "7,8\r9,9",
    "return first": "\r7,8",
    "zero byte": "7,8\x00",
    "no text": "\xff,\xfe",
    "byte order mark": "\u00ef\u00bb\u00bf7,8",
    "long": "7," + "8" * 2000,
    "longer than a block, open": '"' + "7" * 5000,
    "longer than two blocks": "7" * 300 + ",8" + "7" * 9000 + '",8',
    "wide": "7," * 1500,
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
@pytest.mark.parametrize("place", [0, 1, 150, 299])
def test_no_line_moves_another_one(tmp_path, monkeypatch, line, place):
    """A quote left open swallowed the lines after it, and a cell too many was an error: either tells of a record."""
    monkeypatch.setattr("tailguard.cli.csv_file.BLOCK_BYTES", 1000)
    lines = [f'{k},"{-k}"' for k in range(300)]
    lines[place] = line
    file = CsvFile(write(tmp_path, "x,y\n" + "\n".join(lines) + "\n", "latin-1"))
    others = np.delete(np.arange(300.0), place)
    assert file.count() == 300
    for column, numbers in zip(file.read(["x", "y"]), (others, -others), strict=True):
        assert np.array_equal(np.delete(column, place), numbers)


def test_what_a_line_holds_does_not_depend_on_where_it_is(tmp_path, monkeypatch):
    """Lines about as long as a block are read or not by their own length; a mark first in a block is no mark."""
    monkeypatch.setattr("tailguard.cli.csv_file.BLOCK_BYTES", 100)
    for line in ("\xef\xbb\xbf7,8", *(f"{'0' * length}7,8" for length in (95, 96, 97, 98, 99, 150, 199))):
        alone = CsvFile(write(tmp_path, f"x,y\n{line}\n", "latin-1")).read(["x", "y"])
        for before in range(90, 110):
            text = f"x,y\n{'0' * before},1\n{line}\n5,6\n"
            found = CsvFile(write(tmp_path, text, "latin-1")).read(["x", "y"])
            assert np.array_equal(np.stack(found)[:, 1], np.ravel(alone), equal_nan=True), (line, before)


def test_every_line_is_a_row_for_the_reader_too():
    """Random lines of what a reader of CSV takes for structure: as many rows as lines, with their own cells."""
    rng = np.random.default_rng(0)
    letters = np.frombuffer(b'"",;\r\t 1a\x00\xef', np.uint8)
    options = pv.ReadOptions(autogenerate_column_names=True)
    for cells in (1, 2, 3):
        lines = [rng.choice(letters, rng.integers(12)).tobytes() for _ in range(3000)]
        rows = rows_only(b"\n".join([*lines, b""]), b",", cells, 10).tobytes()
        assert rows.count(b"\n") == len(lines)
        form = pv.ParseOptions(ignore_empty_lines=False)
        assert len(pv.read_csv(io.BytesIO(rows), options, form)) == len(lines)
        alone = [rows_only(line + b"\n", b",", cells, 10).tobytes() for line in lines]
        assert rows == b"".join(alone)


@pytest.mark.parametrize("text", ["x,y\r1,2\r3,4\r", "x,y\r1,2\r3,\n4\r", "x,y\r", "x\ry\r\n1\r\n"])
def test_lines_that_end_in_returns_alone_are_refused(tmp_path, text):
    """A first record that began with a newline made one line of the whole file."""
    with pytest.raises(DataError, match="must end in newlines"):
        CsvFile(write(tmp_path, text))


def test_columns_beyond_the_memory_are_mapped(tmp_path, monkeypatch):
    path = write(
        tmp_path, "x,label,y\n" + "\n".join(f"{k},{'yes' if k % 3 else 'no'},{-k}" for k in range(2000)) + "\n"
    )

    def read():
        return CsvFile(path).read(["x", "y"], ("label", lambda texts: (texts == "yes").astype(float)))

    small = read()
    monkeypatch.setattr("tailguard.cli.storage.MEMORY_BYTES", 1000)
    monkeypatch.setattr("tailguard.cli.csv_file.BLOCK_BYTES", 256)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    large = read()
    assert all(isinstance(column, np.memmap) for column in large)
    assert all(np.array_equal(one, other) for one, other in zip(small, large, strict=True))
    assert list((tmp_path / "scratch").iterdir()) == []  # nothing that somebody else could open
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="no room for 3 columns of 2000 rows"):
        read()


@pytest.mark.parametrize(
    "line", ['"1,2', "1,2,3,4", "9" * 100_000, '1,"2\r\r'], ids=["quote", "cells", "long", "returns"]
)
def test_a_fit_goes_through_whatever_one_line_holds(tailguard, tmp_path, line):
    rng = np.random.default_rng(0)
    rows = [f"{x:.6f},{2 * x + e:.6f}" for x, e in rng.normal(size=(3000, 2))]
    told = []
    for instead in (line, ","):
        rows[1234] = instead
        path = write(tmp_path, "x,y\n" + "\n".join(rows) + "\n")
        outcome = tailguard("fit", path, "--target", "y", "--epsilon", 4, "--seed", 1, "--json")
        told.append((outcome.status, outcome.out, outcome.err))
    assert told[0] == told[1]
    assert told[0][0] == 0
