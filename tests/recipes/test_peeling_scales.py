"""Noise of a peeling in units of λ: the papers' formulas, and the tight ones beside them."""

import math
import re
from pathlib import Path

import pytest

from tailguard.errors import ParameterError
from tailguard.mechanisms import LaplacePeeling, Peeling
from tailguard.privacy import Privacy, recompute
from tailguard.recipes import peeling_scales as scales

DELTA = 1e-6
CELLS = [(5, 1.0), (20, 1.0), (50, 2.0)]
PAGE = Path(__file__).parents[2] / "docs" / "papers" / "peeling.md"


def _row(count, epsilon):
    privacy = Privacy(epsilon, DELTA)
    return [
        scales.hu_multiplier(count, privacy),
        scales.tao_multiplier(count, privacy),
        3 * count / epsilon,
        scales.laplace_multiplier(count, privacy),
        scales.concentrated_multiplier(count, privacy),
        scales.gumbel_multiplier(count, privacy),
    ]


@pytest.mark.parametrize(
    ("count", "epsilon", "laplace", "gumbel"), [(5, 1.0, 15.0, 14.3), (20, 1.0, 40.0, 28.7), (50, 2.0, 35.1, 23.8)]
)
def test_tight_scales_at_the_known_cells(count, epsilon, laplace, gumbel):
    """What was known before is reached within 1 % by zCDP, and not exceeded by the exact accountant."""
    privacy = Privacy(epsilon, DELTA)
    assert scales.concentrated_multiplier(count, privacy) == pytest.approx(gumbel, rel=0.01)
    assert 0.95 * gumbel <= scales.gumbel_multiplier(count, privacy) <= 1.01 * gumbel
    assert 0.98 * laplace <= scales.laplace_multiplier(count, privacy) <= 1.01 * laplace


@pytest.mark.parametrize(("count", "epsilon"), CELLS)
def test_tight_scales_are_private_and_hardly_less_would_be(count, epsilon):
    privacy = Privacy(epsilon, DELTA)
    for scale, mechanism in [
        (scales.laplace_multiplier(count, privacy), LaplacePeeling(count)),
        (scales.gumbel_multiplier(count, privacy), Peeling(count)),
    ]:
        assert recompute(mechanism.event(scale, 2.0**31, count), DELTA) <= epsilon
        assert recompute(mechanism.event(0.99 * scale, 2.0**31, count), DELTA) > 0.999 * epsilon


@pytest.mark.parametrize(("count", "epsilon"), CELLS)
def test_the_papers_scales_are_private_and_loose(count, epsilon):
    """Laplace peeling with Hu's scale costs less than was asked, with Tao's less still."""
    privacy = Privacy(epsilon, DELTA)
    hu, tao = scales.hu_multiplier(count, privacy), scales.tao_multiplier(count, privacy)
    assert tao == pytest.approx(math.sqrt(8 / 3) * hu)
    costs = [recompute(LaplacePeeling(count).event(scale, 2.0**31, count), DELTA) for scale in (hu, tao)]
    assert costs[1] < costs[0] < 0.75 * epsilon


def test_at_few_coordinates_even_pure_peeling_beats_the_papers():
    """3s/ε against 2√(3s·ln(1/δ))/ε: pure up to s = (4/3)·ln(1/δ) = 18.4."""
    for count in (1, 18, 19):
        assert (3 * count < scales.hu_multiplier(count, Privacy(1.0, DELTA))) == (count < 18.4)


@pytest.mark.parametrize("scale", [scales.hu_multiplier, scales.tao_multiplier])
def test_the_papers_formulas_need_delta(scale):
    with pytest.raises(ParameterError, match=f"The 'delta' parameter of {scale.__name__} must be greater than 0"):
        scale(5, Privacy(1.0, 0.0))


def test_the_page_shows_these_numbers():
    rows = [line for line in PAGE.read_text().splitlines() if re.match(r"\| \d+, ", line)]
    assert len(rows) == len(CELLS)
    for line, (count, epsilon) in zip(rows, CELLS, strict=True):
        name, *printed = [cell.strip() for cell in line.strip("|").split("|")]
        assert name == f"{count}, {epsilon:g}"
        assert printed == [f"{number:.1f}" for number in _row(count, epsilon)]
