"""CSV cells are numbers or missing; nothing is inferred, nothing is shown."""

import numpy as np
import pytest

from tailguard.cli.csv_file import CsvFile
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


def test_quotes_may_hold_line_breaks_and_delimiters(tmp_path):
    file = CsvFile(write(tmp_path, '"a;b";x\n"p\nq";1\n";";2\n'), ";")
    assert file.names == ("a;b", "x")
    assert np.array_equal(file.read(["x"])[0], [1.0, 2.0])


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


@pytest.mark.parametrize("text", ["", "\n", "1,2\n3,4\n", " 1 ,-2e5\n"])
def test_the_first_line_must_hold_names(tmp_path, text):
    with pytest.raises(DataError, match="must hold the names of the columns"):
        CsvFile(write(tmp_path, text), ",")


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


def test_rows_without_the_right_cells_and_rows_without_end_are_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("tailguard.cli.csv_file.BLOCK_BYTES", 1000)
    for rows, part in (
        ("1,2\n98765,3,4\n", "has 3 cells where the first line has 2"),
        ("1,2\n98765\n", "has 1 cells where the first line has 2"),
        ("1,2\n" + "9" * 5000 + ",3\n", "is longer than 1000 bytes, or its quotes do not close"),
        ('1,2\n"98765,3\n' + "1,2\n" * 2000, "is longer than 1000 bytes, or its quotes do not close"),
    ):
        with pytest.raises(DataError) as caught:
            CsvFile(write(tmp_path, f"x,y\n{rows}")).read(["x", "y"])
        assert part in str(caught.value)
        assert "98765" not in str(caught.value)
        assert "999" not in str(caught.value)


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
