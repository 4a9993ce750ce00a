"""Scales and multipliers are rounded the safe way, sums saturate."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailguard.errors import ParameterError
from tailguard.mechanisms.grid import add, multiplier_of, noise_scale

positive = st.floats(1e-20, 1e20)
ENDS = np.iinfo(np.int64)


@given(multiplier=positive, sensitivity=positive, copies=st.integers(1, 10**6))
def test_scale_is_the_least_float_that_is_large_enough(
    multiplier: float,
    sensitivity: float,
    copies: int,
) -> None:
    scale = noise_scale("X", multiplier, sensitivity, copies=copies)
    needed = copies * (Fraction(multiplier) * Fraction(sensitivity)) ** 2
    assert Fraction(scale) ** 2 >= needed > Fraction(math.nextafter(scale, 0.0)) ** 2


@given(scale=positive, sensitivity=positive, copies=st.integers(1, 10**6))
def test_multiplier_is_the_greatest_float_that_the_scale_carries(
    scale: float,
    sensitivity: float,
    copies: int,
) -> None:
    q = multiplier_of(scale, sensitivity, copies=copies)
    carried = Fraction(scale) ** 2 / copies / Fraction(sensitivity) ** 2
    assert Fraction(q) ** 2 <= carried < Fraction(math.nextafter(q, math.inf)) ** 2


@given(multiplier=positive, sensitivity=positive, copies=st.integers(1, 10**6))
def test_an_event_never_claims_less_noise_than_planned(
    multiplier: float,
    sensitivity: float,
    copies: int,
) -> None:
    q = multiplier_of(noise_scale("X", multiplier, sensitivity, copies=copies), sensitivity, copies=copies)
    assert multiplier <= q <= multiplier * (1 + 1e-15)


def test_scales_outside_the_limits_are_refused() -> None:
    assert noise_scale("X", 8.0, 2.0, at_least=16.0) == 16.0
    with pytest.raises(ParameterError, match=r"The 'multiplier' parameter of X must be such that .* 16 and"):
        noise_scale("X", 7.99, 2.0, at_least=16.0)
    with pytest.raises(ParameterError, match="noise scale"):
        noise_scale("X", 1e200, 1e200)
    with pytest.raises(ParameterError, match="noise scale"):
        noise_scale("X", 1e-200, 1e-200)


@given(
    value=st.integers(ENDS.min, ENDS.max),
    noise=st.one_of(st.floats(-1e20, 1e20), st.sampled_from([2.0**63, -(2.0**63), 2.5, 3.5, 1e308, -1e308])),
)
def test_add_is_exact_integer_addition_then_saturation(value: int, noise: float) -> None:
    limit = 2**63 - 1024
    exact = value + max(-limit, min(limit, round(noise)))
    total = add(np.array([value], dtype=np.int64), np.array([noise]))
    assert total.dtype == np.int64
    assert int(total[0]) == max(ENDS.min, min(ENDS.max, exact))
