"""Hard instances: exact moments against direct sums over their atoms, samples against both, distances, parameters."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

from tailguard.errors import ParameterError
from tailguard.theory import BiasedSigns, Instance, Packing, PointMass, Setting, TwoPoint
from tests.support.sentences import sentence

WORD = (0, 1, -1, 0, 1)
INSTANCES = [
    PointMass(3),
    TwoPoint(1.5, 2.0, 0.03),
    Packing(WORD, 0.2, 1.7, 3.0),
    Packing(WORD, 0.2, 3.0, 3.0, "direction"),
    Packing(WORD, 1.0, 2.0, 0.5, "norm"),
    BiasedSigns((1, -1, -1), 0.25, 2.0),
]


def _atoms(instance: Instance) -> tuple[np.ndarray, np.ndarray]:
    """Return every possible value and its probability."""
    if isinstance(instance, PointMass):
        return np.zeros((1, 3)), np.ones(1)
    if isinstance(instance, BiasedSigns):
        signs = np.array(list(itertools.product((1, -1), repeat=3)))
        agree = np.count_nonzero(signs == instance.codeword, axis=1)
        up, down = (1 + instance.bias) / 2, (1 - instance.bias) / 2
        return instance.bound * signs, up**agree * down ** (3 - agree)
    word = (1,) if isinstance(instance, TwoPoint) else instance.codeword
    return np.outer([0.0, instance.height], word), np.array([1 - instance.probability, instance.probability])


@pytest.mark.parametrize("instance", INSTANCES, ids=repr)
def test_mean_and_moments_by_direct_sums(instance: Instance) -> None:
    values, weights = _atoms(instance)
    assert instance.mean == pytest.approx(weights @ values, abs=1e-15)
    for order in (1.0, 2.0, 2.7):
        assert instance.moment(order) == pytest.approx((weights @ np.abs(values) ** order).max())
        norms = np.linalg.norm(values, axis=1)
        assert instance.moment(order, "norm") == pytest.approx(weights @ norms**order)


@pytest.mark.parametrize("instance", INSTANCES, ids=repr)
def test_moments_of_directions_by_search(instance: Instance) -> None:
    values, weights = _atoms(instance)
    generator = np.random.default_rng(0)

    def along(u: np.ndarray) -> float:
        return -float(weights @ np.abs(values @ (u / np.linalg.norm(u))) ** 2)

    starts = generator.standard_normal((8, values.shape[1]))
    best = max(-minimize(along, start, tol=1e-12).fun for start in starts)
    assert instance.moment(2.0, "direction") == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("order", [1.2, 2.0, 5.0])
@pytest.mark.parametrize("probability", [1e-6, 0.3, 1.0])
@pytest.mark.parametrize("of", ["coordinate", "direction", "norm"])
def test_the_assumption_is_met_with_equality(order: float, probability: float, of: str) -> None:
    instance = Packing(WORD, probability, order, 3.0, of)
    assert instance.moment(order, of) == pytest.approx(3.0**order)
    scalar = TwoPoint(order, 3.0, probability)
    assert scalar.moment(order) == pytest.approx(3.0**order)
    assert scalar.mean.item() == pytest.approx(3.0 * probability ** (1 - 1 / order))


@pytest.mark.parametrize("instance", INSTANCES, ids=repr)
def test_samples(instance: Instance) -> None:
    """Every atom as often as it should: five standard deviations of a binomial."""
    n = 40_000
    x = instance.sample(n, np.random.default_rng(11))
    values, weights = _atoms(instance)
    assert x.shape == (n, values.shape[1])
    assert np.array_equal(x, instance.sample(n, np.random.default_rng(11)))
    counts = [np.count_nonzero(np.all(np.isclose(x, value), axis=1)) for value in values]
    assert sum(counts) == n
    for count, weight in zip(counts, weights, strict=True):
        assert abs(count - n * weight) <= 5 * math.sqrt(n * weight * (1 - weight))


def _total_variation(first: Instance, second: Instance) -> float:
    """Half of the sum of absolute differences over the union of the atoms."""
    mass: dict[tuple[float, ...], float] = {}
    for sign, instance in ((1, first), (-1, second)):
        for value, weight in zip(*_atoms(instance), strict=True):
            mass[tuple(value + 0.0)] = mass.get(tuple(value + 0.0), 0.0) + sign * weight
    return 0.5 * sum(map(abs, mass.values()))


def test_total_variation_is_the_probability() -> None:
    scalar = TwoPoint(2.0, 1.0, 0.07)
    zero = Packing((1,), 0.07)
    assert scalar.total_variation == pytest.approx(0.07)
    assert scalar.partner.mean.tolist() == [0.0]
    assert scalar.partner.moment(2.0) == 0.0
    assert zero.total_variation(PointMass(1)) == 0.07
    one, other = Packing((1, 0, 1, 0), 0.07), Packing((0, 1, 1, 0), 0.07)
    assert one.total_variation(other) == pytest.approx(0.07) == pytest.approx(_total_variation(one, other))
    rarer = Packing((0, 1, 1, 0), 0.02)
    assert one.total_variation(rarer) == pytest.approx(_total_variation(one, rarer))
    assert one.total_variation(one) == 0.0


def test_hardest_probabilities() -> None:
    setting = Setting(n=1000, d=100, epsilon=0.5, delta=1e-6, order=1.5, bound=2.0)
    word = (0, 1) * 50
    assert TwoPoint.hardest(setting).probability == pytest.approx(1 / 500)
    assert Packing.hardest(setting, word).probability == pytest.approx(math.sqrt(100 * math.log(1e6)) / 500)
    pure = Setting(n=1000, d=100, epsilon=0.5, delta=0.0)
    assert Packing.hardest(pure, word).probability == pytest.approx(100 / 500)
    sparse = (1, -1) + (0,) * 98
    assert Packing.hardest_sparse(pure, sparse).probability == pytest.approx(2 * math.log(100) / 500)
    small = Setting(n=3, d=100, epsilon=0.5, delta=0.0)
    assert Packing.hardest(small, word).probability == 1.0
    assert TwoPoint.hardest(Setting(n=1, epsilon=0.5)).probability == 1.0


def test_one_biased_sign_cannot_be_told() -> None:
    """Exact: the best test of a sign from n draws errs with probability at least 1/4."""
    for n in (1, 10, 1000):
        instance = BiasedSigns.hardest(Setting(n=n), (1,))
        up = (1 + instance.bias) / 2
        k = np.arange(n + 1)
        distance = 0.5 * np.abs(binom.pmf(k, n, up) - binom.pmf(k, n, 1 - up)).sum()
        assert (1 - distance) / 2 >= 0.25


@pytest.mark.parametrize(
    ("make", "name", "owner", "rule"),
    [
        (lambda: TwoPoint(2.0, 1.0, 0.0), "probability", "TwoPoint", "a finite number greater than 0 and at most 1"),
        (lambda: TwoPoint(1.0, 1.0, 0.5), "order", "TwoPoint", "a finite number greater than 1"),
        (lambda: Packing((0, 0), 0.5), "codeword", "Packing", "of entries −1, 0 and 1, not all of them 0"),
        (lambda: Packing((2, 0), 0.5), "codeword", "Packing", "of entries −1, 0 and 1, not all of them 0"),
        (lambda: BiasedSigns((1, 0), 0.5), "codeword", "BiasedSigns", "of entries −1 and 1"),
        (lambda: BiasedSigns((1, 1), 1.5), "bias", "BiasedSigns", "a finite number greater than 0 and at most 1"),
        (lambda: BiasedSigns((1, 1), 0.5).moment(3.0, "direction"), "order", "moment of a direction", "2"),
        (lambda: Packing.hardest(Setting(n=9, d=3), (1,)), "codeword", "Packing.hardest", "of length d = 3"),
        (lambda: PointMass().moment(0.0), "order", "moment", "a finite number greater than 0"),
        (lambda: TwoPoint(2.0, 1.0, 0.5).sample(0, np.random.default_rng()), "n", "sample", "an integer of at least 1"),
    ],
)
def test_rules(make, name: str, owner: str, rule: str) -> None:
    with pytest.raises(ParameterError, match=sentence(name, owner, rule)):
        make()
