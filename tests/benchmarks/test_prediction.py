"""The comparison of predicted with measured errors."""

import pytest

from benchmarks import prediction, results
from benchmarks.datasets import development
from benchmarks.objective import Budget

TASKS = {dataset.name: dataset for dataset in development.tasks()}
NAMES = ("linear t3 n=10000 d=5", "logistic t3 n=10000 d=5", "mean t3 n=10000 d=1")


@pytest.fixture
def summary(tmp_path):
    """A summary whose errors are the predicted ones times a factor, and a task whose error is not predicted."""

    def write(*factors):
        rows = []
        for name, factor in zip(NAMES, factors, strict=True):
            error = prediction.predicted(TASKS[name], Budget(1.0, 1e-6))[1]
            rows.append(prediction.row(TASKS[name], Budget(1.0, 1e-6), factor * error, 3))
        rows.append(rows[0] | {"method": "somebody else", "excess": 1e9})
        rows.append(rows[0] | {"status": "3 refused", "excess": 1e9})
        results.write(tmp_path / "summary.csv", rows, results.SUMMARY)
        return tmp_path / "summary.csv"

    return write


def test_the_share_is_counted_and_decides_the_exit_status(summary, capsys):
    assert prediction.main([str(summary(1.0, 2.9, 0.35))]) == 0
    assert "all (aim 80%): 3 of 3 within a factor of 3" in capsys.readouterr().out
    assert prediction.main([str(summary(1.0, 3.1, 1.0))]) == 1
    assert "logistic: 0 of 1 within" in capsys.readouterr().out


def test_a_missing_summary_is_said(tmp_path, capsys):
    assert prediction.main([str(tmp_path / "nothing.csv")]) == 1
    assert "make bench" in capsys.readouterr().err


def test_factors_are_fitted(summary):
    found = list(prediction.pairs(results.read(summary(2.0, 2.0, 1.0))))
    for key, formula in prediction.fitted(found).items():
        old = prediction.FORMULAS[key]
        assert 1.2 * old.gradient < formula.gradient + formula.sampling * old.gradient / old.sampling < 8 * old.gradient
