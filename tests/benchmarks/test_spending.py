"""The committed table of what the papers' formulas spend is what the plans say today."""

import re

from benchmarks import spending


def test_the_committed_table_is_what_the_script_gives():
    assert spending.TABLE.read_text("utf-8") == spending.table()


def test_no_formula_spends_more_than_was_asked():
    shares = [
        float(share) for share in re.findall(r"\d+\.\d\d\b", spending.TABLE.read_text("utf-8").split("---|\n")[-1])
    ]
    assert shares
    assert all(0.0 < share <= 1.0 for share in shares)


def test_the_table_depends_on_the_budget():
    (_, make, d), *_ = spending.CASES
    assert len({spending.spent(make, d, *budget) for budget in spending.BUDGETS}) > 3
