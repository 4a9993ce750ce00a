"""Features and noise have the laws that section 6 prints."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import gamma

from tailguard.reproduction.laws import Law

FEATURES = {
    "lognormal": (Law("lognormal", 0.6**0.5), stats.lognorm(0.6**0.5)),
    "student": (Law("student", 10.0), stats.t(10)),
    "normal": (Law("normal", 5.0**0.5), stats.norm(0, 5.0**0.5)),
    "laplace": (Law("laplace", 5.0), stats.laplace(0, 5.0)),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features_follow_their_law(name):
    law, expected = FEATURES[name]
    X = law.design(np.random.default_rng(1), 4000, 5)
    assert X.dtype == np.float32
    assert X.shape == (4000, 5)
    assert stats.kstest(X.ravel(), expected.cdf).pvalue > 1e-3
    assert stats.kstest(1.05 * X.ravel() if law.symmetric else X.ravel() + 0.03, expected.cdf).pvalue < 1e-2
    assert np.allclose([law.mean, law.variance], [expected.mean(), expected.var()])
    assert abs(np.corrcoef(X.T)[np.triu_indices(5, 1)]).max() < 0.08


def log_logistic(w, c=0.1):
    return c * w ** (-c - 1) * (1 + w**-c) ** -2


def log_gamma(w, c=0.5):
    return np.exp(c * w - np.exp(w)) / gamma(c)


def logistic(w, s=0.5):
    return np.exp(-w / s) / (s * (1 + np.exp(-w / s)) ** 2)


@pytest.mark.parametrize(
    ("law", "density", "levels"),
    [
        (Law("loglogistic", 0.1), log_logistic, (0.5, 3.0)),
        (Law("loggamma", 0.5), log_gamma, (-2.0, 0.7)),
        (Law("logistic", 0.5), logistic, (-0.4, 1.0)),
    ],
)
def test_noise_has_the_printed_density(law, density, levels):
    low, high = levels
    grid = np.linspace(low, high, 20_001)
    mass = np.trapezoid(density(grid), grid)
    assert law.exceeds(np.array([low]))[0] - law.exceeds(np.array([high]))[0] == pytest.approx(mass, rel=1e-6)
    drawn = law.noise(np.random.default_rng(2), 40_000)
    assert ((drawn > low) & (drawn < high)).mean() == pytest.approx(mass, abs=4.0 * 0.5 / 200.0)


def test_no_noise_is_no_noise():
    assert np.array_equal(Law("none").noise(np.random.default_rng(0), 3), np.zeros(3))
    assert np.array_equal(Law("none").exceeds(np.array([-1.0, 1.0])), [1.0, 0.0])
