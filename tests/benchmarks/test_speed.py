"""What is timed is what it is called: kernels agree with naive twins, slopes are slopes, the page has its tables."""

import numpy as np
import pytest

from benchmarks import growth, kernels, speed
from benchmarks.growth import Fitted, Part
from benchmarks.kernel_cases import cases
from tailguard.engines.numpy import NumpyEngine
from tailguard.engines.partition import WHOLE
from tailguard.engines.selection import Selection
from tailguard.statistics import Catoni, Gram, Ranks, Signed

RNG = np.random.default_rng(500)
X = RNG.standard_normal((3000, 7))
W = RNG.standard_normal(7)
Y = X @ W + RNG.standard_t(2, 3000)
CASES = cases(X, Y, W)


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_and_its_naive_twin_compute_the_same(name):
    statistic, naive = CASES[name]
    found = statistic.evaluate(Selection(NumpyEngine(X, Y, threads=1), WHOLE)) * statistic.unit
    expected = naive()
    if isinstance(statistic, Gram):
        expected = expected[np.triu_indices(7)] * np.where(np.equal(*np.triu_indices(7)), 1.0, np.sqrt(2.0))
    if isinstance(statistic, Ranks):
        return  # distances in ranks against a median: no common unit
    # The naive Catoni sum leaves the smoothing out.
    rough = isinstance(statistic, Catoni | Signed)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=300.0 if rough else 1e-6)


def test_kernels_are_timed():
    timed = list(kernels.measure(2000, 4, (1, 2), 1))
    assert [row.name for row in timed] == list(CASES)
    assert all(len(row.ours) == 2 for row in timed)
    assert len(kernels.table(timed, 2000, 4).splitlines()) == len(timed) + 4


def test_a_power_law_has_its_exponent():
    assert growth.slope([(n, 3.0 * n**1.7) for n in (10, 100, 1000)]) == pytest.approx(1.7)


def test_a_file_has_the_records(tmp_path):
    growth.write(tmp_path / "x.parquet", 3000, 3)
    fit = growth.fitted("Parquet file", 3000, 3, str(tmp_path / "x.parquet"))
    assert (fit.n, fit.d) == (3000, 3)
    assert fit.processor > 0.0
    assert fit.data_mb == pytest.approx(0.096)
    assert fit.peak_mb > 50.0


def test_a_profile_names_the_statistics():
    parts = {part.name: part for part in growth.profile(20_000, 3)}
    assert {"clipped sum", "counts below", "octave counts"} <= set(parts)
    assert all(part.processor >= 0.0 for part in parts.values())


def test_the_page_has_its_tables(tmp_path):
    timed = [kernels.Timed("clipped sum", 1.0, (2.0, 1.5), 18.0)]
    fits = [Fitted("array", n, 10, n / 1e6, n / 1e6, 100.0, "newton") for n in (1000, 10_000)]
    wide = [Fitted("array", 1000, d, d**2 / 1e6, d**2 / 1e6, 100.0, "newton") for d in (5, 10)]
    text = speed.page(timed, [Part("clipped sum", 3, 0.5)], fits, wide, [("linear", "tailguard", "", 0.1)])
    assert "| clipped sum | 2000.0 | 0.5 | 2.00 | 1500.0 | 9.0 |" in text
    assert "n^1.00" in text
    assert "d^2.00" in text
    assert "| linear | tailguard |  | 0.10 |" in text
    speed.plot(fits, wide, tmp_path / "speed.svg")
    assert (tmp_path / "speed.svg").read_text().startswith("<?xml")
