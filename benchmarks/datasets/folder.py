"""Every table of a folder: Parquet or CSV files with a column `target`."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from benchmarks.datasets.real import Real
from benchmarks.objective import Matrix, Vector

__all__ = ["LOOKED_AT", "tables"]

LOOKED_AT = frozenset(
    {
        "county_murders",
        "patent_cites",
        "diamonds",
        "kc_house",
        "us_mines_injuries",
        "cran_check_times",
        "loans_income",
        "blogfeedback",
        "cps1988_wage",
        "gss_wages",
        "k401k_nettfa",
        "meps_drugexp",
        "rand_hie",
        "bemtpl97_severity",
        "buzz_toms_reg",
        "spambase",
        "adult",
        "bank_marketing",
        "buzz_toms_class",
        "polish_bankruptcy_1y",
    }
)
"""Sets on which recipes were looked at; a file of any other name is held out."""


def tables(folder: Path) -> tuple[list[Real], dict[str, str]]:
    """Return the tasks of a folder, and the files that make none, with the reason."""
    found, skipped = [], {}
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".parquet", ".csv"):
            continue
        try:
            found.append(Real(path.stem, partial(read, path), held_out=path.stem not in LOOKED_AT))
        except (KeyError, ValueError) as error:
            skipped[path.name] = str(error.args[0])
    return found, skipped


def read(path: Path) -> tuple[Matrix, Vector]:
    """Return the numeric columns but `target`, and `target`."""
    table = pq.read_table(path).to_pandas() if path.suffix == ".parquet" else pd.read_csv(path)
    if "target" not in table:
        raise KeyError("it has no column named target")
    numeric = table.drop(columns="target").select_dtypes(include=["number", "bool"])
    if numeric.shape[1] == 0:
        raise ValueError("it has no numeric column besides target")
    return numeric.to_numpy(np.float64), table["target"].to_numpy(np.float64)
