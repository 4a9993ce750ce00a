"""Whatever is wrong: one sentence, exit status 1 or 2, no traceback, no data value."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from tailguard.cli import main

SECRET = "98765.4321"
WORD = "Ada Lovelace"

WRONG_FACTS = {
    "no rows": (("--rows", 0), 2, "'n_rows' parameter of plan must be an integer of at least 1"),
    "negative rows": (("--rows", -5), 2, "at least 1"),
    "rows in words": (("--rows", "many"), 2, "--rows"),
    "no features": (("--features", 0), 2, "'n_features' parameter of plan must be an integer of at least 1"),
    "no epsilon": (("--epsilon", 0), 2, "greater than 0"),
    "negative epsilon": (("--epsilon", -1), 2, "greater than 0"),
    "epsilon nan": (("--epsilon", "nan"), 2, "finite"),
    "epsilon inf": (("--epsilon", "inf"), 2, "finite"),
    "delta one": (("--delta", 1), 2, "less than 1"),
    "negative delta": (("--delta", -1e-9), 2, "at least 0"),
    "unknown method": (("--method", "magic"), 2, "'magic'"),
    "unknown loss": (("--loss", "cubic"), 2, "cubic"),
    "unknown parameters": (("--parameters", "best"), 2, "best"),
    "paper without moment": (("--parameters", "paper", "--radius", 1), 2, "'moment'"),
    "moment too small": (("--moment-order", 1), 2, "'order'"),
    "moment bound": (("--moment-bound", 0), 2, "'bound'"),
    "radius": (("--radius", 0), 2, "radius"),
    "impossible budget": (("--rows", 100, "--features", 50, "--epsilon", 0.01), 1, "rows"),
    "unknown option": (("--speed", 3), 2, "--speed"),
}


@pytest.mark.parametrize(("words", "status", "part"), WRONG_FACTS.values(), ids=WRONG_FACTS)
def test_wrong_facts(tailguard, words, status, part):
    outcome = tailguard("plan", "--rows", 10000, "--features", 3, *words)
    assert outcome.status == status
    assert part in outcome.sentence()
    assert outcome.out == ""


@pytest.mark.parametrize("words", [("dance",), ("plan",), ("plan", "--rows", 3), ("verify",), ("fit", "a.csv")])
def test_wrong_words(tailguard, words):
    outcome = tailguard(*words)
    assert outcome.status == 2
    assert outcome.sentence()


def table(**columns):
    return pa.table({"x": [1.0, 2.0], "y": [float(SECRET), 1.0], **columns})


WRONG_FILES = {
    "text column.parquet": lambda path: pq.write_table(table(name=[WORD, "b"]), path),
    "text target.parquet": lambda path: pq.write_table(table().set_column(1, "y", [[SECRET, WORD]]), path),
    "date column.feather": lambda path: feather.write_feather(table(d=pa.array([1, 2], pa.date32())), path),
    "lists.parquet": lambda path: pq.write_table(table(v=[[float(SECRET)], [2.0]]), path),
    "no rows.parquet": lambda path: pq.write_table(table().slice(0, 0), path),
    "no rows.feather": lambda path: feather.write_feather(table().slice(0, 0), path),
    "no rows.csv": lambda path: path.write_text("x,y\n"),
    "no line break.csv": lambda path: path.write_text("x,y"),
    "no feature.parquet": lambda path: pq.write_table(table().select(["y"]), path),
    "no feature.csv": lambda path: path.write_text(f"y\n{SECRET}\n1\n"),
    "no target.parquet": lambda path: pq.write_table(table().select(["x"]), path),
    "no target.csv": lambda path: path.write_text(f"x\n{SECRET}\n1\n"),
    "no target.feather": lambda path: feather.write_feather(table().select(["x"]), path),
    "two targets.csv": lambda path: path.write_text(f"x,y,y\n1,{SECRET},1\n"),
    "no header.csv": lambda path: path.write_text(f"1,{SECRET}\n3,4\n"),
    "empty.csv": lambda path: path.write_text(""),
    "zeros.csv": lambda path: path.write_bytes(b"\x00\x00\x00"),
    "empty.parquet": lambda path: path.write_bytes(b""),
    "not.parquet": lambda path: path.write_text(f"x,y\n1,{SECRET}\n"),
    "not.arrow": lambda path: path.write_text(f"x,y\n1,{SECRET}\n"),
    "not.feather": lambda path: path.write_bytes(b""),
    "sheet.xlsx": lambda path: path.write_text(f"x,y\n1,{SECRET}\n"),
    "none": lambda path: path.write_text(f"x,y\n1,{SECRET}\n"),
    "folder.csv": lambda path: path.mkdir(),
    "missing.csv": lambda path: None,
    "missing.parquet": lambda path: None,
    "few rows.csv": lambda path: path.write_text(f"x,y\n1,{SECRET}\n2,3\n"),
    "few rows.parquet": lambda path: pq.write_table(table(), path),
}


def check(outcome):
    sentence = outcome.sentence()
    assert outcome.out == ""
    assert not any(secret in sentence for secret in (SECRET, SECRET[:5], WORD, "Ada"))


@pytest.mark.parametrize("name", WRONG_FILES)
@pytest.mark.parametrize(
    "rest", [(), ("--dry-run",), ("--loss", "logistic"), ("--loss", "logistic", "--classes", "a,b")]
)
def test_wrong_files(tailguard, tmp_path, name, rest):
    path = tmp_path / name
    WRONG_FILES[name](path)
    check(tailguard("fit", path, "--target", "y", *rest))


@pytest.mark.parametrize("name", WRONG_FILES)
def test_wrong_files_for_means(tailguard, tmp_path, name):
    path = tmp_path / name
    WRONG_FILES[name](path)
    check(tailguard("mean", path, "--columns", "x,y"))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of y by x."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "a.csv").write_text("x,y\n" + "1,2\n3,4\n5,7\n" * 3000)
    words = ("fit", folder / "a.csv", "--target", "y", "--seed", 1, "--output", folder / "model.json")
    assert main([str(word) for word in words]) == 0
    return folder / "model.json"


@pytest.mark.parametrize("name", WRONG_FILES)
@pytest.mark.parametrize("verb", ["predict", "evaluate"])
def test_wrong_files_for_a_model(tailguard, tmp_path, model, verb, name):
    path = tmp_path / name
    WRONG_FILES[name](path)
    outcome = tailguard(verb, model, path)
    if verb == "predict" and outcome.status == 0:  # it needs neither a target nor columns that have no coefficient
        assert name.split(".")[0] in (
            "open quote",
            "few rows",
            "no target",
            "two targets",
            "text column",
            "text target",
            "date column",
            "lists",
        )
        return
    check(outcome)


def test_folders_and_files_that_may_not_be_read(tailguard, tmp_path, files, monkeypatch):
    (tmp_path / "data.csv").mkdir()
    assert "is a folder, not a file" in tailguard("fit", tmp_path / "data.csv", "--target", "y").sentence()
    assert "is a folder, not a file" in tailguard("verify", tmp_path).sentence()
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.R_OK)
    for name in ("claims.csv", "claims.parquet", "claims.feather"):
        assert "not readable" in tailguard("fit", files / name, "--target", "pay").sentence()
    assert "not readable" in tailguard("verify", files / "claims.csv").sentence()


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("--features", "x,z"), 1),
        (("--features", "x,y"), 1),
        (("--features", "x,x"), 1),
        (("--features", ""), 1),
        (("--loss", "logistic", "--classes", "1"), 2),
        (("--loss", "logistic", "--classes", "1,1"), 2),
        (("--model", "svc", "--classes", "a,b,c"), 2),
        (("--classes", "a,b"), 2),
        (("--loss", "mean"), 2),
        (("--seed", -1), 2),
        (("--seed", "x"), 2),
        (("--delimiter", "||"), 2),
        (("--epsilon", 0), 2),
        (("--delta", 0, "--method", "clipping"), 2),
        (("--output", "."), 1),
        (("--report", "/dev/null/report.html"), 1),
    ],
)
def test_wrong_options(tailguard, tmp_path, words, status):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,2\n" * 3000)
    outcome = tailguard("fit", path, "--target", "y", *words)
    assert outcome.status == status
    assert outcome.sentence()


WRONG_COLUMNS = {
    "target": (("--target", "pay", "--features", "age,pay"), "Column 'pay' is the target, and cannot be"),
    "twice": (("--target", "pay", "--features", "age,age"), "Column 'age' is asked for more than once."),
    "missing": (("--target", "pays"), "There is no column 'pays' among 'age', 'cost', 'late', 'pay'."),
    "none": (("--target", "pay", "--features", ""), "The records must have at least one feature."),
}


@pytest.mark.parametrize("name", ["claims.csv", "claims.parquet", "claims.feather"])
@pytest.mark.parametrize("wrong", WRONG_COLUMNS)
def test_wrong_columns_of_all_kinds_of_files(tailguard, files, name, wrong, monkeypatch):
    """A dry run and a fit refuse the same."""
    monkeypatch.setattr("tailguard.cli.carry_out.run", lambda *_: pytest.fail("the budget was spent"))
    words, sentence = WRONG_COLUMNS[wrong]
    for rest in ((), ("--dry-run",)):
        outcome = tailguard("fit", files / name, *words, *rest)
        assert outcome.status in (1, 2)
        assert sentence in outcome.sentence()


def test_a_file_that_cannot_be_written_costs_nothing(tailguard, files, monkeypatch):
    monkeypatch.setattr("tailguard.cli.carry_out.run", lambda *_: pytest.fail("the budget was spent"))
    outcome = tailguard("fit", files / "claims.csv", "--target", "pay", "--output", files)
    assert "cannot be written" in outcome.sentence()


def test_a_file_that_breaks_off(tailguard, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": rng.normal(size=5000), "y": rng.normal(size=5000)}), path, compression="none")
    data = bytearray(path.read_bytes())
    data[4:20000] = b"\xff" * 19996
    path.write_bytes(data)
    check(tailguard("fit", path, "--target", "y", "--epsilon", 4))


@pytest.mark.parametrize("text", ["", "{}", '{"model": {}}', '{"plan": 1, "digest": 2}', "[[1]]"])
def test_wrong_models(tailguard, files, tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text)
    outcome = tailguard("predict", path, files / "claims.csv")
    assert outcome.status == 1
    assert outcome.sentence()


def test_an_unforeseen_error_shows_neither_text_nor_trace(tailguard, files, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError(f"cell {SECRET}")

    monkeypatch.setattr("tailguard.cli.sources.Source.open", fail)
    outcome = tailguard("fit", files / "claims.csv", "--target", "pay")
    assert outcome.status == 1
    assert "RuntimeError" in outcome.err
    assert SECRET not in outcome.err
    assert outcome.err.count("\n") == 1


def test_an_interruption_is_no_traceback(tailguard, files, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tailguard.cli.sources.Source.open", interrupt)
    assert tailguard("fit", files / "claims.csv", "--target", "pay").sentence() == "Interrupted."
