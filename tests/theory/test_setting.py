"""The public numbers of a rate: rules, derived numbers, and the table's own words."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tailguard import theory
from tailguard.errors import ParameterError
from tailguard.privacy import Privacy, zcdp_rho
from tailguard.theory import Exponent, Setting, hu, rates, render, tao, zhao
from tests.support.sentences import sentence


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("n", 0, "an integer of at least 1"),
        ("d", 1.5, "an integer of at least 1"),
        ("epsilon", 0.0, "a finite number greater than 0"),
        ("delta", 1.0, "a finite number at least 0 and less than 1"),
        ("order", 1.0, "a finite number greater than 1"),
        ("bound", -1.0, "a finite number greater than 0"),
        ("failure", 1.0, "a finite number greater than 0 and less than 1"),
        ("diameter", math.inf, "a finite number greater than 0"),
        ("smoothness", 0.0, "a finite number greater than 0"),
        ("convexity", 2.0, "a finite number greater than 0 and at most 1"),
        ("sparsity", 2, "an integer of at least 1 and at most 1"),
        ("vertices", 0, "an integer of at least 1"),
    ],
)
def test_rules(field: str, value: object, rule: str) -> None:
    with pytest.raises(ParameterError, match=sentence(field, "Setting", rule)):
        Setting(**({"n": 10} | {field: value}))


def test_numbers_are_plain() -> None:
    setting = Setting(n=np.int64(10), d=np.int32(2), bound=np.float32(2))
    assert [type(value) for value in (setting.n, setting.d, setting.bound)] == [int, int, float]


@pytest.mark.parametrize(
    ("function", "change", "name"),
    [
        (tao.truncated_mean, {"order": 2.5}, "order"),
        (tao.truncated_mean, {"epsilon": 1.5}, "epsilon"),
        (tao.truncated_mean, {"delta": 0.0}, "delta"),
        (tao.truncated_mean, {"delta": 0.6}, "delta"),
        (tao.truncated_mean, {"d": 2}, "d"),
        (tao.median_of_means, {"n": 3}, "n"),
        (tao.mean_lower, {"d": 2}, "d"),
        (tao.vector_mean_lower, {"delta": 0.0}, "delta"),
        (zhao.clipped_mean, {"order": 1.9}, "order"),
        (zhao.clipped_risk, {"epsilon": 1.1}, "epsilon"),
        (zhao.iterated_risk, {"delta": 0.0}, "delta"),
        (zhao.risk_lower, {"order": 1.5}, "order"),
        (hu.catoni_mean, {"order": 1.9}, "order"),
        (hu.catoni_mean, {"d": 2}, "d"),
        (hu.frank_wolfe_risk, {"order": 1.9}, "order"),
        (hu.frank_wolfe_risk, {"epsilon": 1.1}, "epsilon"),
        (hu.robust_risk, {"epsilon": 1.1}, "epsilon"),
        (hu.shrunken_lasso_risk, {"order": 3.9}, "order"),
        (hu.shrunken_lasso_risk, {"diameter": 0.5}, "diameter"),
        (hu.shrunken_thresholding_risk, {"order": 3.9}, "order"),
        (hu.catoni_thresholding_risk, {"delta": 0.0}, "delta"),
    ],
)
def test_conditions_of_theorems(function, change: dict, name: str) -> None:
    valid = Setting(n=1000, order=2.0 if function.__module__.split(".")[2] in ("tao", "zhao") else 4.0)
    function(valid)
    with pytest.raises(ParameterError, match=f"^The '{name}' parameter of "):
        function(replace(valid, **change))


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0])
def test_rho_is_inside_the_budget(epsilon: float, delta: float) -> None:
    """The paper's conversion may not give more than the library's, which takes the best Rényi order."""
    rho = Setting(n=1, epsilon=epsilon, delta=delta).rho
    best = zcdp_rho(Privacy(epsilon, delta))
    assert 0.01 * best < rho <= best


def test_exponents() -> None:
    half = Fraction(1, 2)
    assert Exponent(half, -half)(4.0) == pytest.approx(0.5 - 0.375)
    texts = {str(Exponent(a, b)) for a, b in [(0, 1), (0, -1), (half, half), (1, -2), (-half, 0), (half, 3 * half)]}
    assert texts == {"κ", "−κ", "1/2 + κ/2", "1 − 2κ", "−1/2", "1/2 + 3κ/2"}


def test_the_table_names_every_function_once() -> None:
    table = rates()
    assert len({rate.name for rate in table}) == len(table)
    assert len({rate.function for rate in table}) == len(table)
    wanted = {"Theorem 1,", "Theorem 2", "Theorem 3,", "Theorem 4", "Theorem 6", "Theorem 7", "Theorem 8", "Theorem 9"}
    stated = " ".join(rate.statement + ";" for rate in table if rate.paper.startswith("Tao"))
    assert all(statement in stated for statement in wanted)
    stated = " ".join(rate.statement + ";" for rate in table if rate.paper.startswith("Zhao"))
    assert all(f"Theorem {number}" in stated for number in (1, 2, 4, 5, 7))
    stated = " ".join(rate.statement + ";" for rate in table if rate.paper.startswith("Hu"))
    assert all(f"Theorem {number}" in stated for number in (2, 3, 5, 7, 8, 9))


def test_public_rates_of_the_modules_are_in_the_table() -> None:
    listed = {rate.function for rate in rates()}
    parameters = (
        "threshold",
        "radius",
        "_at",
        "_failure",
        "_scale",
        "_step",
        "_steps",
        "kept",
        "_size",
        "_probability",
    )
    for module in (tao, zhao, hu, theory.explicit):
        public = [
            name for name in module.__all__ if name not in ("RATES", "sparse_packing") and "probability" not in name
        ]
        public = [name for name in public if not name.endswith(parameters)]
        assert {getattr(module, name) for name in public} <= listed


def test_rendering() -> None:
    text = render()
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == len(rates()) + 2
    assert len({row.count("|") for row in rows}) == 1
    assert all(rate.name in text and rate.caveat in text for rate in rates())
    few = render([rate for rate in rates() if rate.name == "median of means"], order=1.5)
    assert "| −0.333 | 0.667 | −0.333 | −0.333 |" in few
    with pytest.raises(ParameterError, match="order"):
        render(order=1.0)
