"""The committed tables of what the papers' formulas spend are what the plans say today."""

import re

import pytest

from benchmarks import spending

EACH = pytest.mark.parametrize(("path", "cases"), spending.TABLES.items(), ids=lambda item: getattr(item, "name", ""))


@EACH
def test_the_committed_table_is_what_the_script_gives(path, cases):
    assert path.read_text("utf-8") == spending.table(cases)


@EACH
def test_no_formula_spends_more_than_was_asked(path, cases):
    shares = [float(share) for share in re.findall(r"\d+\.\d\d\b", path.read_text("utf-8"))]
    assert len(shares) == len(cases) * len(spending.BUDGETS)
    assert all(0.0 < share <= 1.0 for share in shares)


def test_the_table_depends_on_the_budget():
    (_, _, planner), *_ = spending.CASES
    assert len({spending.spent(planner, *budget) for budget in spending.BUDGETS}) > 3
