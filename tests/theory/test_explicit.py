"""Lower bounds with constants, against the best private tests that linear programming finds."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from tailguard.errors import ParameterError
from tailguard.theory import Setting, explicit, tao, zhao
from tailguard.theory.packing import GROWTH


def _best_test(n: int, q: float, epsilon: float, delta: float) -> float:
    """Smallest larger error of all private tests of q against 0: a_k is the chance to say "q" on k non-zero records.

    Averaging over the order of the records makes any private test one of k alone.
    """
    law, size = binom.pmf(np.arange(n + 1), n, q), n + 2
    rows, limits = [], []
    for k in range(n):
        for a, b in ((k, k + 1), (k + 1, k)):
            said, silent = np.zeros(size), np.zeros(size)
            said[a], said[b] = 1.0, -math.exp(epsilon)
            silent[a], silent[b] = -1.0, math.exp(epsilon)
            rows += [said, silent]
            limits += [delta, math.exp(epsilon) - 1.0 + delta]
    rows += [np.concatenate([-law, [-1.0]]), np.eye(size)[0] - np.eye(size)[-1]]
    limits += [-1.0, 0.0]
    found = linprog(np.eye(size)[-1], A_ub=np.array(rows), b_ub=limits, bounds=[(0, 1)] * size)
    return float(found.fun)


@pytest.mark.parametrize("failure", [0.05, 0.2, 0.4])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.01), (3.0, 1e-4)])
def test_no_private_test_is_better_than_the_two_point_bound(failure: float, epsilon: float, delta: float) -> None:
    """For ε ≤ 1 the bound is sharp: six times the probability is told apart well enough."""
    n = 60
    setting = Setting(n=n, epsilon=epsilon, delta=delta, failure=failure, order=2.0)
    q = (2.0 * explicit.two_point(setting)) ** 2
    assert q < 1.0
    assert _best_test(n, q, epsilon, delta) >= failure - 1e-9
    assert epsilon > 1.0 or _best_test(n, min(1.0, 6.0 * q), epsilon, delta) < failure


def test_nothing_is_claimed_from_one_half_on() -> None:
    assert explicit.two_point(Setting(n=100, failure=0.5)) == 0.0
    assert explicit.two_point(Setting(n=100, failure=0.49)) > 0.0


def test_probability_is_at_most_one() -> None:
    setting = Setting(n=1, d=4000, epsilon=1e-3, bound=3.0, delta=0.0, failure=0.01)
    assert explicit.two_point(setting) == pytest.approx(1.5)
    assert explicit.packing(setting) == pytest.approx(3.0 * math.sqrt(500) / 4)


@pytest.mark.parametrize("d", [40, 150])
@pytest.mark.parametrize("epsilon", [0.2, 2.0])
def test_no_private_decoder_is_better_than_the_packing(d: int, epsilon: float) -> None:
    """Chance s_k to name the right word on k of its records: s_0 = 1/|Θ|, then as fast as ε allows."""
    n, words = 400, math.exp(GROWTH * d)
    setting = Setting(n=n, d=d, epsilon=epsilon, delta=0.0, order=2.0)
    q = (4.0 * explicit.packing(setting) / math.sqrt(d / 8)) ** 2
    assert q < 1.0
    chance = [1.0 / words]
    for _ in range(n):
        chance.append(min(math.exp(epsilon) * chance[-1], 1.0 - math.exp(-epsilon) * (1.0 - chance[-1])))
    success = binom.pmf(np.arange(n + 1), n, q) @ np.array(chance)
    assert 0.02 < success <= 0.5


@pytest.mark.parametrize("d", [37, 400, 10**4])
def test_information_of_the_concentrated_packing(d: int) -> None:
    """Fano's inequality leaves an error probability of one half: ρ·E[K²] + ln 2 = ln|Θ|/2."""
    setting = Setting(n=10**6, d=d, epsilon=0.3, delta=1e-6, order=2.0)
    q = (4.0 * explicit.concentrated_packing(setting) / math.sqrt(d / 8)) ** 2
    second = binom.var(setting.n, q) + binom.mean(setting.n, q) ** 2
    assert setting.rho * second + math.log(2) == pytest.approx(GROWTH * d / 2, rel=1e-3)
    assert setting.rho * second + math.log(2) <= GROWTH * d / 2 * (1 + 1e-12)


def test_small_dimensions_have_no_packing() -> None:
    assert explicit.packing(Setting(n=100, d=18, delta=0.0)) == 0.0 < explicit.packing(Setting(n=100, d=19, delta=0.0))
    assert (
        explicit.concentrated_packing(Setting(n=100, d=36)) == 0.0 < explicit.concentrated_packing(Setting(n=100, d=37))
    )


def test_moments_of_directions_cost_the_length_of_a_word() -> None:
    setting = Setting(n=10**4, d=200, epsilon=0.5)
    for bound in (explicit.packing, explicit.concentrated_packing):
        assert bound(setting) == pytest.approx(10.0 * bound(setting, of="direction"))
    with pytest.raises(ParameterError, match="'of'"):
        explicit.packing(setting, of="norm")


def test_clipping_is_above_the_bounds_for_moments_of_directions() -> None:
    """Proved constants on both sides; clipping has exactly the ρ of the lower bound."""
    sizes = itertools.product((10**3, 10**6), (1, 50, 2000), (0.01, 1.0), (1e-9, 0.1), (2.0, 5.0))
    for n, d, epsilon, delta, order in sizes:
        setting = Setting(n=n, d=d, epsilon=epsilon, delta=delta, order=order)
        reached = min(zhao.clipped_mean(setting), zhao.sharp_clipped_mean(setting))
        assert explicit.two_point(setting) <= reached
        assert explicit.concentrated_packing(setting, of="direction") <= reached


def test_constants_are_within_reach_of_the_rates() -> None:
    """Proved constants of the rates whose hidden constants are set to 1."""
    setting = Setting(n=10**6, d=400, epsilon=0.5, delta=1e-6)
    assert 0.01 < explicit.packing(setting) / tao.vector_mean_lower_pure(setting) < 1.0
    assert 0.01 < explicit.concentrated_packing(setting) / tao.vector_mean_lower(setting) < 1.0
    scalar = Setting(n=10**6, epsilon=0.5, delta=0.0, failure=0.25)
    assert 0.1 < explicit.two_point(scalar) / tao.mean_lower(scalar) < 1.0
