"""Records as Python lists: no number in a cell, and no missing one, decides whether a fit goes through."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import tailguard as tg

N = 400
CELLS = {"large": 2**70, "huge": 10**400, "missing": None, "no number": Decimal("sNaN"), "fraction": 0.5}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS.keys())
def test_no_cell_of_a_list_is_refused(cell):
    rows, y = [[k % 7] for k in range(N)], [k % 5 for k in range(N)]
    rows[3], y[4] = [cell], cell
    domain, budget = tg.domains.L2Ball(1, 1.0), tg.Privacy(1e3, 1e-6)
    release = tg.minimize(tg.losses.Squared(), domain, (rows, y), budget, random_state=0)
    assert np.all(np.isfinite(release.estimate.coefficients))
    model = tg.LinearRegression(epsilon=1e3, random_state=0).fit(rows, y)
    assert np.all(np.isfinite(model.coef_))


def test_a_column_may_be_called_dtype():
    frame = pd.DataFrame({"dtype": np.arange(N) % 7.0})
    assert tg.Mean(epsilon=1e3, random_state=0).fit(frame).feature_names_in_.tolist() == ["dtype"]
