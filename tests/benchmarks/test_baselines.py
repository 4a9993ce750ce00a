"""The baselines are what their papers say: published figures, consistency with much budget, and laws of the noise."""

import math

import numpy as np
import pytest

from benchmarks.calibration import Small
from benchmarks.noise import Noise
from benchmarks.objective import Budget, Refused
from benchmarks.solvers.adassp import AdaSSP, _packed, _unpacked
from benchmarks.solvers.clipped_mean import ClippedMean
from benchmarks.solvers.coinpress import Coinpress
from benchmarks.solvers.dp_gd import DPGD
from benchmarks.solvers.frank_wolfe import FrankWolfe
from benchmarks.solvers.objective_perturbation import ObjectivePerturbation, _deviation
from benchmarks.solvers.robust import Huber, Lasso
from benchmarks.solvers.tukey_em import TukeyEM, _log_volumes, _margin

PLENTY = Budget(1e4, 1e-6)


@pytest.mark.parametrize(("n", "published", "plain"), [(1000, 0.271, 0.221), (10_000, 0.073, 0.072)])
def test_coinpress_is_as_good_as_published(n, published, plain):
    """Biswas et al. 2020: d = 50, ρ = 1/2, a ball of radius 10√d around 0; ρ-zCDP is μ = √(2ρ)."""
    errors = []
    for seed in range(500, 520):
        Z = np.random.default_rng(seed).standard_normal((n, 50))
        found = Coinpress(steps=3).mean(Z, np.zeros(50), 10.0 * math.sqrt(50), 1.0, Noise(seed))
        errors.append((np.linalg.norm(found), np.linalg.norm(Z.mean(axis=0))))
    assert np.mean(errors, axis=0) == pytest.approx([published, plain], rel=0.06)


def least_squares(data):
    rows = np.column_stack([data.X, np.ones(len(data.X))])
    scale = np.abs(rows).max(axis=0)
    return (np.linalg.lstsq(rows / scale, data.y)[0] / scale)[:-1]


@pytest.mark.parametrize(
    ("solver", "epsilon"),
    [
        (DPGD(100.0, 300, 100.0), 1e6),
        (AdaSSP(20.0), 1e6),
        (AdaSSP(40.0, scaled="private"), 1e9),
        (ObjectivePerturbation(8.0, 10.0), 6e3),
    ],
)
def test_with_much_budget_and_wide_clips_a_linear_fit_is_least_squares(solver, epsilon):
    data = Small("linear", 2000).draw(503)
    fit = solver.fit("linear", data, Budget(epsilon, 1e-6), 503)
    assert fit.coefficients == pytest.approx(least_squares(data), rel=0.03)


def test_tukey_em_returns_a_deep_model():
    data = Small("linear", 3000).draw(503)
    fit = TukeyEM(1.5).fit("linear", data, Budget(50.0, 1e-6), 503)
    assert fit.coefficients == pytest.approx(least_squares(data), rel=0.15)


def test_tukey_em_fails_its_test_on_a_small_budget():
    with pytest.raises(Refused, match="test"):
        TukeyEM(1.5).fit("linear", Small("linear", 3000).draw(503), Budget(0.1, 1e-6), 503)


def test_volumes_are_those_of_nested_boxes():
    models = np.sort(np.random.default_rng(500).standard_normal((40, 3)), axis=0)
    volumes = _log_volumes(models)
    assert volumes[3] == pytest.approx(np.log(models[37] - models[2]).sum())
    assert np.all(np.diff(volumes[1:21]) < 0.0)
    assert volumes[0] == np.inf
    assert volumes[21] == -np.inf


def test_margin_moves_by_at_most_one_when_a_model_is_replaced():
    rng = np.random.default_rng(501)
    models = rng.standard_normal((200, 2))
    margin = _margin(_log_volumes(np.sort(models, axis=0)), 50, 4.0, 1e-6)
    assert margin > 5
    for _ in range(200):
        other = models.copy()
        other[rng.integers(200)] = rng.choice([0.0, 1e9, -1e9, 0.1], 2)
        assert abs(_margin(_log_volumes(np.sort(other, axis=0)), 50, 4.0, 1e-6) - margin) <= 1


def test_logistic_fits_find_the_direction():
    data = Small("logistic", 4000).draw(504)
    truth = 10.0 ** -np.linspace(-2, 2, 5)
    for solver in (DPGD(0.8, 30, 0.4), DPGD(0.8, 30, 0.4, "private"), ObjectivePerturbation(1.0)):
        slopes = solver.fit("logistic", data, Budget(2.0, 1e-6), 504).coefficients / truth
        assert slopes == pytest.approx(np.full(5, slopes.mean()), rel=0.35)


def test_sparse_fits_find_the_support():
    data = Small("sparse", 4000).draw(505)
    for solver in (FrankWolfe(1.0, 10), FrankWolfe(1.0, 10, "private"), DPGD(0.4, 30, 0.4)):
        found = solver.fit("sparse", data, Budget(4.0, 1e-6), 505).coefficients * data.X.std(axis=0)
        assert set(np.argsort(-np.abs(found))[:2]) == {0, 1}


def test_clipped_mean_is_the_mean_with_much_budget():
    data = Small("mean").draw(506)
    for budget in (PLENTY, Budget(1e4, 0.0)):
        found = ClippedMean(1e3).fit("mean", data, budget, 506).coefficients
        assert np.abs(found - data.X.mean(axis=0)).max() / data.X.std(axis=0).max() < 0.05


def test_private_scales_refuse_what_the_budget_cannot_carry():
    with pytest.raises(Refused):
        DPGD(0.4, 10, 0.4, "private").fit("linear", Small("linear", 300).draw(500), Budget(0.1, 1e-6), 500)


def test_packing_keeps_the_frobenius_norm():
    matrix = np.random.default_rng(502).standard_normal((6, 6))
    gram = matrix @ matrix.T
    assert np.linalg.norm(_packed(gram)) == pytest.approx(np.linalg.norm(gram))
    assert _unpacked(_packed(gram), 6) == pytest.approx(gram)


def test_deviation_solves_its_equation():
    s, epsilon, delta = 3.0, 0.7, 1e-6
    sigma = _deviation(s, epsilon, delta)
    assert (2.0 * s * sigma * math.sqrt(2.0 * math.log(1.0 / delta)) + s * s) / (2.0 * sigma**2) == pytest.approx(
        epsilon
    )


def test_objective_perturbation_is_as_private_as_said_in_one_dimension():
    """One record of weight 1 and an intercept alone: the density of the answer by change of variables, on a grid."""
    radius, first, ridge = 1.0, 0.9, 0.25 / math.expm1(0.1)
    w = np.linspace(-60.0, 60.0, 20_001)
    share = 1.0 / (1.0 + np.exp(-w))

    def log_density(label: float) -> np.ndarray:
        b = -(share - label) - ridge * w
        return -np.abs(b) * first / (2.0 * radius) + np.log(share * (1.0 - share) + ridge)

    # Labels 0 and 1, and a record that counts for nothing: all are neighbours.
    nothing = -np.abs(ridge * w) * first / (2.0 * radius) + math.log(ridge)
    logs = [log - np.log(np.sum(np.exp(log))) for log in (log_density(0.0), log_density(1.0), nothing)]
    worst = max(np.abs(one - two).max() for one in logs for two in logs)
    assert worst <= 1.0 + 1e-6


def test_noise_has_the_declared_laws():
    noise, zeros = Noise(507), np.zeros(40_000)
    assert noise.gaussian("a", zeros, 2.0, 3.0).std() == pytest.approx(6.0, rel=0.02)
    assert np.abs(noise.laplace("b", zeros, 2.0, 3.0)).mean() == pytest.approx(6.0, rel=0.02)
    lengths = [np.linalg.norm(noise.l2_laplace("c", np.zeros(5), 2.0, 3.0)) for _ in range(4000)]
    assert np.mean(lengths) == pytest.approx(6.0 * 5, rel=0.03)
    picks = [noise.choose("d", np.array([0.0, 1.0]), 1.0, 2.0) for _ in range(8000)]
    assert np.mean(picks) == pytest.approx(math.e / (1.0 + math.e), abs=0.02)


def test_the_same_seed_gives_the_same_fit():
    data = Small("linear").draw(508)
    first, second = (AdaSSP(0.7).fit("linear", data, Budget(1.0, 1e-6), 508) for _ in range(2))
    assert np.array_equal(first.coefficients, second.coefficients)


def test_references_without_privacy_find_the_model():
    data = Small("linear").draw(509)
    assert Huber().fit("linear", data, PLENTY, 0).coefficients == pytest.approx(least_squares(data), rel=0.2)
    for task in ("sparse", "sparse-logistic"):
        data = Small(task, 1000).draw(509)
        found = Lasso().fit(task, data, PLENTY, 0).coefficients * data.X.std(axis=0)
        assert set(np.argsort(-np.abs(found))[:2]) == {0, 1}
