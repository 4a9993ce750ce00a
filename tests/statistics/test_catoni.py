"""ψ_β from the table against 50-digit arithmetic, its bound to the last bit, and what the printed formula would do."""

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr

from tailguard.errors import ParameterError
from tailguard.losses import Squared
from tailguard.statistics import Catoni, Gradient, Rows, View, smoothing
from tailguard.statistics.coordinate_kernels import add_smoothed
from tests.support import fifty_digits

BETAS = pytest.mark.parametrize("beta", [0.1, 1.0, 10.0, 100.0])
ENTRIES = np.concatenate(
    [
        [0.0, 5e-324, 1e-310],
        np.geomspace(1e-300, 1e-6, 8),
        np.geomspace(1e-5, 0.5, 30),
        np.linspace(0.5, 3.0, 60),
        np.linspace(1.3, 1.5, 40),
        np.nextafter(np.sqrt(2.0), [0.0, 3.0]),
        np.geomspace(3.0, 1e6, 25),
        np.geomspace(1e7, 1e300, 12),
    ]
)


def _integers(entries, beta, bits=40, threshold=1.0):
    """Return the contributions of entries, one coordinate each."""
    statistic = Catoni(Rows(View(entries.size)), threshold, bits, beta)
    return statistic, statistic.kernel()(entries[np.newaxis], None)


def _errors(statistic, integers, entries):
    pairs = zip(integers.tolist(), entries.tolist(), strict=True)
    exact = [mp.mpf(k) * mp.mpf(statistic.unit) - fifty_digits.smoothed(a, statistic.beta) for k, a in pairs]
    return np.array([abs(float(error)) for error in exact])


@BETAS
def test_the_reference_is_the_expectation_that_defines_it(beta):
    for a in (0.7, -1.41, 4.0, 60.0):
        assert abs(fifty_digits.smoothed(a, beta) - fifty_digits.integral(a, beta)) < mp.mpf(10) ** -20


@BETAS
def test_the_table_is_right_from_nothing_to_1e300(beta):
    statistic, integers = _integers(ENTRIES, beta)
    errors = _errors(statistic, integers, ENTRIES)
    assert errors.max() <= 1e-8  # a hundredth of what is promised
    np.testing.assert_array_equal(_integers(-ENTRIES, beta)[1], -integers)


@BETAS
def test_entries_of_single_precision_are_taken_as_they_are(beta):
    entries = ENTRIES[ENTRIES < 3e38].astype(np.float32)
    statistic, integers = _integers(entries, beta)
    assert _errors(statistic, integers, entries.astype(np.float64)).max() <= 1e-8
    np.testing.assert_array_equal(integers, _integers(entries.astype(np.float64), beta)[1])
    with np.errstate(over="ignore"):
        assert _integers(np.array([1e300]).astype(np.float32), beta)[1] == 0  # became infinite, and is no number


@BETAS
@pytest.mark.parametrize("bits", [1, 12, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bound_is_reached_and_never_exceeded_by_one_bit(beta, bits, dtype):
    rng = np.random.default_rng(bits)
    largest = np.finfo(dtype).max
    spread = rng.choice([-1.0, 1.0], 20_000) * 10.0 ** rng.uniform(-3, np.log10(largest), 20_000)
    entries = np.concatenate([spread, [largest, -largest]]).astype(dtype)
    statistic, integers = _integers(entries, beta, bits)
    assert np.abs(integers).max() == 2**bits
    assert integers[-2:].tolist() == [2**bits, -(2**bits)]
    supremum = fifty_digits.supremum(beta)
    assert mp.mpf(float(np.abs(integers * statistic.unit).max())) <= supremum


@pytest.mark.parametrize("beta", [0.01, 0.1, 1.0, 10.0, 100.0, 1e4])
def test_the_supremum_is_rounded_down_by_next_to_nothing(beta):
    exact = fifty_digits.supremum(beta)
    assert exact * (1 - mp.mpf(2) ** -48) <= mp.mpf(smoothing.bound(beta)) <= exact


@pytest.mark.parametrize("beta", [0.01, 0.02, 0.5, 3.0, 30.0, 1e3, 1e4])
def test_other_precisions(beta):
    entries = np.concatenate([np.geomspace(1e-3, 1e3, 40), np.linspace(1.35, 1.45, 20)])
    statistic, integers = _integers(entries, beta)
    assert _errors(statistic, integers, entries).max() <= 1e-7


@BETAS
def test_small_entries_keep_their_relative_accuracy(beta):
    entries = np.concatenate([np.geomspace(1e-280, 1e-3, 40), np.geomspace(1e-3, 1.0, 20)])
    scale = 1e300  # sums are rounded to integers, so make them large; the limit is out of reach
    sums = add_smoothed(entries[np.newaxis], np.ones(1), smoothing.table(beta), scale, np.inf)
    exact = np.array([float(fifty_digits.smoothed(a, beta) * mp.mpf(scale)) for a in entries])
    np.testing.assert_allclose(sums, exact, rtol=1e-8)
    below = entries < 0.01 * np.sqrt(beta)
    series = entries * (1 - entries**2 / (2 * beta) - entries**2 / 6)
    np.testing.assert_allclose(sums[below], scale * series[below], rtol=1e-8)


@BETAS
def test_nodes_of_the_table_are_near_the_last_digit(beta):
    a = np.array([1e-12, 1e-3, 0.3, 1.0, 1.4142, 1.5, 7.0, 1e3, 1e9])
    exact = np.array([float(fifty_digits.smoothed(x, beta)) for x in a])
    np.testing.assert_allclose(smoothing.integrated(a, beta), exact, rtol=3e-14)


def printed(a, beta):
    """The closed form as the paper prints it, in the precision of its argument."""
    kind = a.dtype.type
    with np.errstate(all="ignore"):
        b = np.abs(a) / np.sqrt(kind(beta))
        root, density = np.sqrt(kind(2)), kind(1 / np.sqrt(2 * np.pi))
        below, above = (root - a) / b, (root + a) / b
        f_below, f_above = ndtr(-below).astype(kind), ndtr(-above).astype(kind)
        e_below, e_above = np.exp(-(below**2) / 2), np.exp(-(above**2) / 2)
        correction = 2 * root / 3 * (f_below - f_above) - (a - a**3 / 6) * (f_below + f_above)
        correction += b * density * (1 - a**2 / 2) * (e_above - e_below)
        correction += a * b**2 / 2 * (f_above + f_below + density * (above * e_above + below * e_below))
        correction += b**3 / 6 * density * ((2 + below**2) * e_below - (2 + above**2) * e_above)
        return a * (1 - b**2 / 2) - a**3 / 6 + correction


def test_the_printed_formula_breaks_its_own_bound_in_floats():
    """It is right where nothing cancels; one large record moves it by far more than the declared 4√2/3."""
    fine = np.array([0.3, 1.0, 2.0, 10.0])
    exact = np.array([float(fifty_digits.smoothed(a, 1.0)) for a in fine])
    np.testing.assert_allclose(printed(fine, 1.0), exact, rtol=1e-10)
    assert np.isnan(printed(np.array([0.0]), 1.0))[0]
    assert np.abs(printed(np.geomspace(1e5, 3e5, 100), 1.0) - smoothing.bound(1.0)).max() > 0.1
    assert np.abs(printed(np.geomspace(1e8, 2e8, 100), 1.0)).max() > 1e7 > 4 * np.sqrt(2.0) / 3
    single = np.geomspace(300, 3000, 100).astype(np.float32)
    assert np.abs(printed(single, 1.0)).max() > 2 * np.sqrt(2.0) / 3
    statistic, integers = _integers(np.geomspace(1e5, 1e300, 100), 1.0)
    assert np.abs(integers * statistic.unit - smoothing.bound(1.0)).max() < 1e-8


@pytest.mark.parametrize(("beta", "factor"), [(1.0, 1.465), (0.5, 1.921), (0.1, 4.029)])
def test_the_sensitivity_of_the_paper_is_looser(beta, factor):
    threshold, m = 2.5, 100
    statistic = Catoni(Rows(View(1)), threshold, 30, beta)
    ours = statistic.sensitivity("linf") * statistic.unit / m
    paper = 4 * np.sqrt(2.0) * threshold / (3 * m)
    assert paper / ours == pytest.approx(factor, rel=1e-3)
    sums = [statistic.kernel()(np.array([[x]]), None)[0] * statistic.unit / m for x in (-1e300, 1e300)]
    assert sums[1] - sums[0] == pytest.approx(ours, rel=1e-12)  # and ours is tight


def test_the_value_estimates_the_sum():
    rng = np.random.default_rng(1)
    X, y, point = rng.standard_t(3, (4000, 3)), rng.standard_t(3, 4000), np.array([0.5, -1.0, 0.0])
    vectors = (X @ point - y)[:, np.newaxis] * X
    for threshold, beta in ((0.7, 0.2), (5.0, 1.0), (200.0, 4.0)):
        statistic = Catoni(Gradient(View(3), Squared(), point), threshold, 40, beta)
        entries = vectors.ravel() / threshold
        smooth = np.sign(entries) * smoothing.integrated(np.abs(entries), beta)
        expected = threshold * smooth.reshape(vectors.shape).sum(axis=0)
        found = statistic.kernel()(X, y) * statistic.unit
        np.testing.assert_allclose(found, expected, atol=1e-7 * threshold * len(X))
    wide = Catoni(Gradient(View(3), Squared(), point), 1e5, 40)
    np.testing.assert_allclose(wide.kernel()(X, y) * wide.unit, vectors.sum(axis=0), atol=1.0)


def test_records_that_are_no_numbers_contribute_nothing_where_they_are_none():
    chunk = np.array([[np.nan, 1e300, -np.inf, 0.0]])
    statistic = Catoni(Rows(View(4)), 1.0, 20)
    assert statistic.kernel()(chunk, None).tolist() == [0, 2**20, 0, 0]
    sloped = Catoni(Gradient(View(2), Squared(), np.zeros(2)), 1.0, 20)
    for target in (np.nan, np.inf, -np.inf):
        assert not np.any(sloped.kernel()(np.ones((1, 2)), np.array([target])))
    assert sloped.kernel()(np.array([[1e300, -1e300]]), np.array([-1e300])).tolist() == [2**20, -(2**20)]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("threshold", lambda: Catoni(Rows(View(1)), 0.0, 30)),
        ("bits", lambda: Catoni(Rows(View(1)), 1.0, 41)),
        ("beta", lambda: Catoni(Rows(View(1)), 1.0, 30, 0.0)),
        ("beta", lambda: Catoni(Rows(View(1)), 1.0, 30, 1e5)),
        ("beta", lambda: Catoni(Rows(View(1)), 1.0, 30, np.nan)),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(name, make):
    with pytest.raises(ParameterError, match=rf"^The '{name}' parameter of Catoni must be .*\. Got .* instead\.$"):
        make()
