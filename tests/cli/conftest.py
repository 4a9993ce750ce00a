"""Runs the command line in this process, and makes small files with values that must never be seen."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from tailguard.cli import main

SECRET = 98765.4321
"""A value of the data: no message may show it."""


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    def sentence(self):
        """The one sentence of a failure."""
        assert self.status in (1, 2), self.out
        assert self.err.startswith("tailguard: ")
        assert self.err.count("\n") == 1
        assert self.err.rstrip().endswith(".")
        assert "Traceback" not in self.out + self.err
        assert "mistake of its own" not in self.err
        return self.err.removeprefix("tailguard: ").strip()


@pytest.fixture
def tailguard(capsys):
    """The command line as a function of its words."""

    def run(*words):
        capsys.readouterr()
        status = main([str(word) for word in words])
        shown = capsys.readouterr()
        return Outcome(status, shown.out, shown.err)

    return run


@pytest.fixture(scope="session")
def columns():
    rng = np.random.default_rng(7)
    n = 4000
    age, cost = np.round(rng.uniform(18, 80, n), 1), rng.standard_t(3, n).round(4)
    late = rng.random(n) < 1 / (1 + np.exp(-2 * cost))
    pay = (3.0 * age - 20.0 * cost + 5.0 * rng.standard_t(3, n)).round(4)
    pay[10] = SECRET
    return {"age": age, "cost": cost, "late": late.astype(np.int64), "pay": pay}


@pytest.fixture(scope="session")
def files(columns, tmp_path_factory):
    """The same records in every format."""
    folder = tmp_path_factory.mktemp("data")
    table = pa.table({**columns, "answer": np.where(columns["late"] == 1, "yes", "no")})
    numbers = table.drop_columns(["answer"])
    pq.write_table(numbers, folder / "claims.parquet", row_group_size=700)
    pq.write_table(table, folder / "text.parquet")
    feather.write_feather(numbers, folder / "claims.feather")
    feather.write_feather(table, folder / "text.arrow", compression="uncompressed")
    for name, data in (("claims.csv", numbers), ("text.csv", table)):
        rows = [",".join(data.column_names), *(",".join(map(str, row.values())) for row in data.to_pylist())]
        (folder / name).write_text("\n".join(rows) + "\n")
    return folder
