"""Sources of noise: labels, seeds, pickles, forks, and OpenDP's own opinion of what we declare."""

import os
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.mechanisms import Gaussian, Laplace, Randomness, TopK
from tailguard.run import randomness as module
from tailguard.run.randomness import Exact, Float, Simulation, make_randomness
from tests.support.laws import p_value

ZEROS = np.zeros(8, dtype=np.int64)
SOURCES: list[Callable[[], Randomness]] = [Exact, Float, lambda: Simulation(0)]
sources = pytest.mark.parametrize("source", SOURCES, ids=["exact", "float", "simulation"])


def test_what_a_user_asks_for() -> None:
    assert isinstance(make_randomness(None, "exact"), Exact)
    assert isinstance(make_randomness(None, "float"), Float)
    assert isinstance(make_randomness(np.int64(3), "exact"), Simulation)
    assert isinstance(make_randomness(0, "float"), Simulation)


@pytest.mark.parametrize("seed", [-1, 1.0, True, "0", np.random.RandomState(0), [1]])
def test_other_seeds_are_refused(seed: object) -> None:
    with pytest.raises(ParameterError, match="The 'random_state' parameter of"):
        make_randomness(seed, "exact")  # type: ignore[arg-type]


def test_unknown_numerics_are_refused() -> None:
    with pytest.raises(ParameterError, match="The 'numerics' parameter of make_randomness"):
        make_randomness(0, "fast")  # type: ignore[arg-type]


def test_labels_say_what_protects() -> None:
    assert Exact().private
    assert "exact" in Exact().label
    assert Float().private
    assert "floating-point sampling" in Float().label
    assert not Simulation(7).private
    assert "simulation" in Simulation(7).label
    assert "NOT PRIVATE" in Simulation(7).label


def test_a_simulation_repeats_and_its_stream_advances() -> None:
    for draw in ("gaussian", "laplace"):
        first, second = Simulation(5), Simulation(5)
        once = getattr(first, draw)(ZEROS, 1e6)
        assert np.array_equal(once, getattr(second, draw)(ZEROS, 1e6))
        assert not np.array_equal(once, getattr(first, draw)(ZEROS, 1e6))
    assert not np.array_equal(Simulation(6).uniform(4), Simulation(5).uniform(4))


@pytest.mark.parametrize("source", [Exact, Float])
def test_private_sources_do_not_repeat(source: Callable[[], Randomness]) -> None:
    draws = [tuple(source().gaussian(ZEROS, 1e9).tolist()) for _ in range(20)]
    assert len(set(draws)) == 20


@sources
def test_pickles_carry_no_foreign_objects(source: Callable[[], Randomness]) -> None:
    randomness = source()
    randomness.gaussian(ZEROS, 100.0)
    copy = pickle.loads(pickle.dumps(randomness))
    assert copy.label == randomness.label
    assert copy.laplace(ZEROS, 100.0).dtype == np.int64


@pytest.mark.parametrize("source", [Exact, Float])
def test_threads_and_forks_get_noise_of_their_own(source: Callable[[], Randomness]) -> None:
    randomness = source()

    def draw(_: int = 0) -> bytes:
        return randomness.gaussian(ZEROS, 1e9).tobytes()

    with ThreadPoolExecutor(4) as pool:
        draws = list(pool.map(draw, range(40)))
    draws += [_in_fork(draw), _in_fork(draw), draw()]
    assert len(set(draws)) == 43


def _in_fork(draw: Callable[[], bytes]) -> bytes:
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Newer versions of Python warn when a test runner's own threads are alive.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.write(writer, draw())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        return pipe.read()


@sources
def test_uniforms_are_uniform_and_inside_the_open_interval(source: Callable[[], Randomness]) -> None:
    u = source().uniform(20_000)
    assert 0 < u.min() < u.max() < 1
    assert p_value(np.histogram(u, 50, (0, 1))[0], np.full(50, 0.02)) > 1e-7


def test_the_extreme_words_stay_inside_the_open_interval() -> None:
    ends = module._open_unit(bytes(8) + b"\xff" * 8)
    assert ends.tolist() == [2.0**-53, 1 - 2.0**-53]


@sources
def test_neighbouring_giants_are_told_apart(source: Callable[[], Randomness]) -> None:
    # A float cannot: 2**62 + 20 rounds to 2**62.
    value = np.array([2**62, 2**62 + 20, 5, 0], dtype=np.int64)
    for _ in range(20):
        assert source().top(value, 0.25, 4).tolist() == [1, 0, 2, 3]


@sources
def test_top_returns_distinct_indices_and_breaks_ties_at_random(source: Callable[[], Randomness]) -> None:
    randomness = source()
    orders = [tuple(randomness.top(ZEROS, 1.0, 8).tolist()) for _ in range(200)]
    assert all(sorted(order) == list(range(8)) for order in orders)
    assert {order[0] for order in orders} == set(range(8))


@pytest.mark.parametrize("multiplier", [0.3, 7.1, 1234.5])
@pytest.mark.parametrize("sensitivity", [2.0**41, 1e6 * np.sqrt(3)])
def test_opendp_agrees_with_the_declared_cost(multiplier: float, sensitivity: float) -> None:
    scale = multiplier * sensitivity
    gaussian = Gaussian().event(multiplier, sensitivity, 3)
    rho = module.gaussian_measurement(scale).map(float(sensitivity))
    assert rho == pytest.approx(1 / (2 * gaussian.multiplier**2), rel=1e-12)
    laplace = Laplace().event(multiplier, sensitivity, 3)
    epsilon = module.laplace_measurement(scale).map(float(sensitivity))
    assert epsilon == pytest.approx(1 / laplace.multiplier, rel=1e-12)
    # Ours is never below the exact cost of the scale that is used.
    assert Fraction(laplace.multiplier) <= Fraction(scale * (1 + 2**-52)) / Fraction(sensitivity)


@pytest.mark.parametrize("count", [1, 5])
def test_opendp_agrees_with_the_declared_cost_of_picks(count: int) -> None:
    event = TopK(count).event(3.7, 2.0**20, 10)
    eta = event.eta if count == 1 else event.event.eta
    rho = module.top_measurement(3.7 * 2.0**20, count).map(2**20)
    assert rho == pytest.approx(count * eta**2 / 8, rel=1e-12)
