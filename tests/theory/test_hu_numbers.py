"""Numbers that the page on Hu et al. 2022 cites."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from tailguard.privacy import composition, events
from tailguard.theory import Setting, hu

PAGE = (Path(__file__).parents[2] / "docs" / "papers" / "hu.md").read_text("utf-8")
TOP = 2 * math.sqrt(2) / 3


def _printed(a: float, beta: float = 1.0) -> float:
    """(5) with the five terms of Ĉ(a, b) at b = |a|/√β, in binary64."""
    with np.errstate(all="ignore"):
        b = np.float64(abs(a)) / math.sqrt(beta)
        low, high = (math.sqrt(2) - a) / b, (math.sqrt(2) + a) / b
        tails, bells = (ndtr(-low), ndtr(-high)), (np.exp(-(low**2) / 2), np.exp(-(high**2) / 2))
        root = math.sqrt(2 * math.pi)
        terms = [
            TOP * (tails[0] - tails[1]),
            -(a - a**3 / 6) * (tails[0] + tails[1]),
            b / root * (1 - a**2 / 2) * (bells[1] - bells[0]),
            a * b**2 / 2 * (tails[0] + tails[1] + (high * bells[1] + low * bells[0]) / root),
            b**3 / (6 * root) * ((2 + low**2) * bells[0] - (2 + high**2) * bells[1]),
        ]
        return float(a * (1 - b**2 / 2) - a**3 / 6 + sum(terms))


def test_the_closed_form_of_catoni_in_floats() -> None:
    limit = TOP * (2 * ndtr(1.0) - 1)
    assert math.isnan(_printed(0.0))
    assert _printed(1e3) == pytest.approx(limit, abs=1e-5)
    assert abs(_printed(1e5) - limit) == pytest.approx(0.1, abs=0.02)
    assert abs(_printed(1e8) - limit) > 1e7


def test_looseness_of_the_printed_sensitivities() -> None:
    gain = 1 / (2 * ndtr(1.0) - 1)
    assert gain == pytest.approx(1.465, abs=5e-4)
    assert 1 / (2 * ndtr(math.sqrt(0.5)) - 1) == pytest.approx(1.92, abs=5e-3)
    assert 3 * gain == pytest.approx(4.39, abs=5e-3)
    assert 1 / (2 * gain) == pytest.approx(0.341, abs=5e-4)
    assert all(number in PAGE for number in ("1.465", "1.92", "4.39", "0.341"))


@pytest.mark.parametrize("s", [1, 4])
@pytest.mark.parametrize("length", [1.0, 2.0])
def test_sensitivity_of_thresholding(s: int, length: float) -> None:
    """x̃_j(⟨x̃, w⟩ − ỹ) over corners changes by 2K²(√s + 1) for w of s equal entries and length 1, by more for 2."""
    K, w = 1.3, np.append(np.full(s, length / math.sqrt(s)), 0.0)
    corners = K * np.array(list(itertools.product((-1.0, 1.0), repeat=s + 2)))
    x, y = corners[:, :-1], corners[:, -1]
    entries = x * (x @ w - y)[:, None]
    printed = 2 * K**2 * (math.sqrt(s) + 1)
    change = np.ptp(entries, axis=0).max()
    assert change == pytest.approx(printed) if length == 1.0 else change > 1.3 * printed


def _spent(event: events.Event, T: int, delta: float) -> float:
    return composition.epsilon(events.Repeat(event, T), delta)


def test_what_a_step_of_algorithm_2_spends() -> None:
    """Composed as pure picks 0.30 to 0.38 of ε = 1, by their range 0.18 to 0.20, with room for 4.6 to 5 times more."""
    pure, ranged = [], []
    for T, delta in itertools.product((10, 40, 100, 1000), (1e-5, 1e-6)):
        step = 1.0 / (2.0 * math.sqrt(2.0 * T * math.log(1.0 / delta)))
        pure.append(_spent(events.Pure(step), T, delta))
        ranged.append(_spent(events.BoundedRange(step), T, delta))
        assert (
            _spent(events.BoundedRange(4.6 * step), T, delta)
            <= 1.0
            < _spent(events.BoundedRange(5.05 * step), T, delta)
        )
    assert (min(pure), max(pure)) == pytest.approx((0.30, 0.38), abs=5e-3)
    assert (min(ranged), max(ranged)) == pytest.approx((0.18, 0.20), abs=5e-3)


def test_the_scale_of_section_6() -> None:
    """Gumbel noise is 2Δ/ε with Δ = 4√2·‖W‖₁·s/(3m), ‖W‖₁ = 2."""
    n, T = 10**4, 21
    theorem = hu.frank_wolfe_scale(Setting(n, 400, 1.0, failure=0.05), T)
    assert theorem == pytest.approx(5.0, abs=0.05)
    for s, noise in ((n, 158.0), (theorem, 0.08)):
        assert 2 * 4 * math.sqrt(2) * 2 * s / (3 * (n // T)) == pytest.approx(noise, rel=0.01)
