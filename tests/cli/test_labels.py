"""Labels of a file: no label makes reading fail, however long it is and whatever bytes it has."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tailguard.cli.sources import Source
from tailguard.engines.parquet import ParquetEngine

SIMULATED = ("--classes", "no,yes", "--epsilon", 4, "--seed", 5, "--json")


def _targets(path):
    return Source(path, "y", None, ("no", "yes")).open().gather()[1]


def _parquet(tmp_path, column):
    path = tmp_path / "records.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0], "y": column}), path)
    return path


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_a_missing_label_is_no_class(tmp_path, kind):
    path = _parquet(tmp_path, pa.array([" yes", None, "no "]).cast(kind))
    np.testing.assert_array_equal(_targets(path), [1.0, np.nan, 0.0])


def test_bytes_that_are_no_text_are_no_class(tmp_path):
    ends, text = np.array([0, 3, 4, 6], np.int32), b"yes\xffno"
    column = pa.StringArray.from_buffers(3, pa.py_buffer(ends), pa.py_buffer(text))
    np.testing.assert_array_equal(_targets(_parquet(tmp_path, column)), [1.0, np.nan, 0.0])


def test_one_long_label_does_not_multiply_the_memory(tmp_path):
    """In an array of fixed width these labels would take 40 TB."""
    path = tmp_path / "records.csv"
    path.write_text("x,y\n" + "1,yes\n" * 1_000_000 + "1," + "n" * 10_000_000 + "\n")
    targets = _targets(path)
    assert np.isnan(targets[-1])
    assert np.all(targets[:-1] == 1.0)


def test_parquet_labels_are_read_batch_by_batch_and_make_the_same_fit(tailguard, files):
    """Also from a CSV file that is kept outside the memory: one simulation, bit by bit."""
    assert isinstance(Source(files / "text.parquet", "answer", ("cost",), ("no", "yes")).open(), ParquetEngine)
    outcomes = [
        tailguard("fit", files / name, "--target", "answer", "--features", "cost", "--model", "logistic", *SIMULATED)
        for name in ("text.parquet", "text.arrow", "text.csv")
    ]
    assert [outcome.status for outcome in outcomes] == [0, 0, 0]
    first, *rest = (json.loads(outcome.out)["model"]["coefficients"] for outcome in outcomes)
    assert rest == [first, first]


def test_a_column_of_another_type_is_refused_before_anything_is_paid(tailguard, files, tmp_path):
    tailguard("ledger", "create", tmp_path / "ledger.db", "--epsilon", 4, "--delta", 1e-6)
    for name in ("text.parquet", "text.arrow"):
        words = ("--target", "late", "--model", "logistic", "--classes", "no,yes", "--session", tmp_path / "ledger.db")
        outcome = tailguard("fit", files / name, "--features", "cost", *words)
        assert "must hold text" in outcome.sentence()
    assert json.loads(tailguard("ledger", "show", tmp_path / "ledger.db", "--json").out)["charges"] == []
