"""Bounds from guesses: never above the truth but with the stated probability, and near it with many runs."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from tailguard.audit.bounds import gdp_mu_lower, noise_upper, recognition, share_lower, share_upper, with_noise
from tailguard.privacy import BoundedRange, Disjoint, Event, Gaussian, Laplace, Pure, Repeat, Sequential, epsilon

RISK = 0.1


@pytest.mark.parametrize(("hits", "trials"), [(0, 20), (1, 20), (7, 20), (19, 20), (20, 20), (500, 1000)])
def test_shares_are_those_at_which_the_hits_become_unlikely(hits, trials):
    low, high = share_lower(hits, trials, 0.01), share_upper(hits, trials, 0.01)
    assert low == 0.0 if hits == 0 else binom.sf(hits - 1, trials, low) == pytest.approx(0.01)
    assert high == 1.0 if hits == trials else binom.cdf(hits, trials, high) == pytest.approx(0.01)


def _gaussian_game(rng, mu, runs):
    """Coins, and the log-likelihood ratios of N(μ, 1) against N(0, 1)."""
    first = rng.random(runs) < 0.5
    return first, mu * (rng.standard_normal(runs) + mu * first) - 0.5 * mu**2


def _laplace_game(rng, cost, runs):
    first = rng.random(runs) < 0.5
    seen = rng.laplace(size=runs) + cost * first
    return first, np.abs(seen) - np.abs(seen - cost)


def _too_often(count, games):
    """Whether so many bounds above the truth are more than their risk explains."""
    return binom.sf(count - 1, games, RISK) < 1e-4


@pytest.mark.parametrize("runs", [100, 1000])
def test_pure_bounds_are_rarely_above_the_truth(runs):
    rng, cost, games = np.random.default_rng(1), 1.0, 300
    bounds = []
    for _ in range(games):
        first, scores = _laplace_game(rng, cost, runs)
        bounds.append(recognition(scores, first, 0.0, RISK).epsilon)
    assert not _too_often(np.sum(np.array(bounds) > cost), games)
    assert _too_often(np.sum(np.array(bounds) > 0.6 * cost), games) == (runs == 1000)  # and they can be


def test_the_half_that_chooses_does_not_judge():
    first = np.random.default_rng(2).random(400) < 0.5
    telling, silent = np.where(first, 1.0, -1.0), np.zeros(400)
    early, late = np.arange(400) < 200, np.arange(400) >= 200
    assert recognition(np.where(early, telling, silent), first, 0.0, RISK).epsilon == 0.0
    assert recognition(np.where(late, telling, silent), first, 0.0, RISK).epsilon > 3.0
    assert recognition(telling, first, 0.0, RISK).power == 1.0


def test_a_data_set_is_recognised_from_either_side():
    """Scores that give the second data set away, and the first never."""
    first = np.arange(2000) % 2 == 0
    scores = np.where(first, 0.0, np.where(np.arange(2000) % 20 == 1, -5.0, 0.0))
    found = recognition(scores, first, 0.0, 0.01)
    assert found.false_alarms == 0.0
    assert found.power == pytest.approx(0.1)
    assert found.epsilon > 1.8
    assert recognition(-scores, ~first, 0.0, 0.01) == found
    assert recognition(scores, first, 0.2, 0.01).epsilon == 0.0  # δ alone explains it


def test_bounds_on_noise_are_rarely_above_the_truth():
    rng, mu, games, runs = np.random.default_rng(3), 1.0, 300, 1000
    mus = []
    for _ in range(games):
        first, scores = _gaussian_game(rng, mu, runs)
        mus.append(gdp_mu_lower(int(((scores > 0.0) == first).sum()), runs, RISK))
    assert not _too_often(np.sum(np.array(mus) > mu), games)
    assert np.mean(mus) > 0.85 * mu


def test_for_gaussian_noise_the_factor_is_that_of_mu():
    runs, right = 5000, 3400
    mu = gdp_mu_lower(right, runs, 0.01)
    assert norm.cdf(0.5 * mu) == pytest.approx(share_lower(right, runs, 0.01))
    event = Repeat(Gaussian(8.0), 16)  # μ = ½
    assert noise_upper(event, right, runs, 0.01) == pytest.approx(0.5 / mu, rel=1e-4)
    assert noise_upper(event, 2500, runs, 0.01) == np.inf
    assert gdp_mu_lower(2500, runs, 0.01) == 0.0


def test_for_pure_events_the_factor_is_that_of_a_response():
    """An ε-private guess is right with probability at most e^ε/(1 + e^ε)."""
    share = float(share_lower(800, 1000, 0.01))
    assert noise_upper(Laplace(2.0), 800, 1000, 0.01) == pytest.approx(0.5 / np.log(share / (1 - share)), rel=1e-4)


def test_all_noise_is_scaled():
    event = Sequential((Repeat(Laplace(4.0), 3), Disjoint((Pure(0.5), BoundedRange(0.2))), Gaussian(3.0, 1e-12)))
    half = Sequential((Repeat(Laplace(2.0), 3), Disjoint((Pure(1.0), BoundedRange(0.4))), Gaussian(1.5, 4e-12)))
    assert with_noise(event, 0.5) == half
    assert epsilon(with_noise(event, 1.0), 1e-6) == epsilon(event, 1e-6)
    with pytest.raises(TypeError, match="No accountant knows Event"):
        with_noise(Event(), 1.0)
