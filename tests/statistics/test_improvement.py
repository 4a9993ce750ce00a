"""Improvements over a first model, squares of rows, and scalars that count from above."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse

from tailguard import engines
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.errors import ParameterError
from tailguard.losses import Biweight, Huber, Logistic, Squared
from tailguard.losses.base import ResidualLoss
from tailguard.statistics import Below, Clamped, Clipped, Gradient, Norm, Octaves, Rows, View
from tailguard.statistics.improvement import Duel, Improvement
from tailguard.statistics.scalars import Reciprocal, Target
from tailguard.statistics.squares import Squares

RNG = np.random.default_rng(3)
X = RNG.standard_normal((50, 4)) * [1.0, 2.0, 0.5, 1.0] + 1.0
Y = RNG.standard_normal(50) + X[:, 0]
MODELS = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, -0.5, 0.25], [0.5, 0.5, 0.5, 0.5]]).T
EMPTY = View(4, columns=np.array([], dtype=int), intercept=True)
OFFSETS = np.array([0.0, 0.3, -0.2])
VIEW = View(4, centre=[1.0, 0.5, 0.0, 0.0], scale=[2.0, 1.0, 1.0, np.inf], basis=MODELS, target_scale=2.0)


@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), Biweight(2.0), Logistic()], ids=lambda loss: loss.name)
def test_an_improvement_is_the_loss_of_the_first_model_minus_that_of_each(loss):
    rows, slopes = Improvement(VIEW, loss, OFFSETS).parts(X, Y)
    Z = (X - VIEW.centre) / VIEW.scale
    values = loss.value(Z @ MODELS + OFFSETS, Y[:, np.newaxis] / 2.0)
    np.testing.assert_allclose(rows, values[:, :1] - values, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(rows[:, 0], 0.0)
    np.testing.assert_array_equal(slopes, 1.0)


def test_a_record_is_judged_alone():
    field = Improvement(VIEW, Logistic(), OFFSETS)
    whole = field.parts(X, Y)[0]
    one_by_one = np.concatenate([field.parts(X[i : i + 1], Y[i : i + 1])[0] for i in range(len(X))])
    np.testing.assert_array_equal(one_by_one, whole)


def test_a_loss_that_takes_vectors_alone_is_enough():
    """Users write losses for one prediction per record; nothing else is asked of them."""

    @dataclass(frozen=True)
    class Plain(ResidualLoss):
        name = "plain"
        convex = True
        smoothness = 1.0
        lipschitz = None

        def _psi(self, residual):
            assert residual.ndim == 1
            return 0.5 * residual**2

        def _slope(self, residual):
            return residual

        def _curvature(self, residual):
            return np.ones_like(residual)

    plain, squared = (Improvement(VIEW, loss, OFFSETS).parts(X, Y)[0] for loss in (Plain(), Squared()))
    np.testing.assert_array_equal(plain, squared)


def test_a_loss_must_answer_once_per_record():
    class Summed(Squared):
        def value(self, prediction, target):
            return super().value(prediction, target).sum(keepdims=True)

    with pytest.raises(ParameterError, match="one value per record"):
        Improvement(VIEW, Summed(), OFFSETS).parts(X, Y)


@pytest.mark.parametrize("offsets", [[0.0], [0.0, 1.0, np.inf], [0.0, np.nan, 1.0]])
def test_offsets_are_finite_and_one_a_model(offsets):
    with pytest.raises(ParameterError, match="The 'point' parameter of Improvement must be a vector of 3"):
        Improvement(VIEW, Squared(), offsets)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_what_has_no_finite_loss_says_nothing(value):
    rows, targets = X[:3].copy(), Y[:3].copy()
    rows[0, 0], targets[1] = value, value
    total = Clamped(Improvement(VIEW, Squared(), OFFSETS), 1.0, 20).kernel()(rows, targets)
    np.testing.assert_array_equal(
        total, Clamped(Improvement(VIEW, Squared(), OFFSETS), 1.0, 20).kernel()(X[2:3], Y[2:3])
    )


def test_squares():
    view = View(4, centre=[1.0, 0.0, 0.0, 0.0], scale=[1.0, 2.0, 1.0, np.inf])
    rows, slopes = Squares(view).parts(X, None)
    np.testing.assert_array_equal(rows, np.square(view.rows(X)))
    np.testing.assert_array_equal(slopes, 1.0)
    np.testing.assert_allclose(Norm(Squares(view)).values(X, None)[:, 0], np.linalg.norm(rows, axis=1))


def test_reciprocals_count_from_above():
    values = np.array([3.0, np.nan, -1.0, np.inf, 0.0, -5.0])
    inverse = Reciprocal(Target(View(1)))
    assert inverse.count == 1
    counts = [Below(inverse, [1.0 / edge], 10).kernel()(np.zeros((6, 1)), values)[0] >> 10 for edge in (0.5, 2.0, 4.0)]
    assert counts == [4, 3, 2]


@pytest.mark.parametrize("statistic", [
    Clamped(Improvement(View(4, basis=MODELS), Squared(), OFFSETS), 2.0, 30),
    Clamped(Improvement(VIEW, Logistic(), OFFSETS), 2.0, 30),
    Clipped(Squares(View(4, scale=[1.0, 2.0, 3.0, np.inf])), 2.0, 30),
    Clipped(Squares(View(4, centre=[1.0, 0.0, 0.0, 0.0])), 2.0, 30),
    Octaves(Norm(Squares(View(4))), -8, 8, 2, 30),
    Below(Reciprocal(Norm(Gradient(View(4, intercept=True), Squared(), np.ones(5)))), [1.0], 30),
    Below(Reciprocal(Norm(Gradient(EMPTY, Squared(), [0.5]))), [1.0], 30),
    Below(Reciprocal(Norm(Rows(View(4)))), [1.0], 30),
])  # fmt: skip
def test_sparse_records_give_the_same_integers(statistic):
    thin = np.where(np.random.default_rng(1).random(X.shape) < 0.4, X, 0.0)
    exact = [
        statistic.evaluate(Selection(engines.open(records, Y), WHOLE)) for records in (thin, sparse.csr_array(thin))
    ]
    np.testing.assert_array_equal(*exact)


def test_a_duel_is_one_number_and_its_opposite():
    view = replace(VIEW, basis=np.asarray(VIEW.basis)[:, :2])
    plain = Improvement(view, Squared(), OFFSETS[:2]).parts(X, Y)[0][:, 1]
    rows, slopes = Duel(view, Squared(), OFFSETS[:2], 0.25).parts(X, Y)
    np.testing.assert_allclose(rows, np.stack([-plain - 0.25, plain + 0.25], axis=1))
    np.testing.assert_array_equal(slopes, 1.0)


def test_a_duel_has_two_models():
    with pytest.raises(ParameterError, match="The 'offsets' parameter of Duel must be a vector of 2 numbers"):
        Duel(VIEW, Squared(), OFFSETS)


def test_in_a_duel_a_record_without_a_loss_is_for_neither():
    """It counts as one that both models predict alike; left out, it would be against the one that must be ahead."""
    view = replace(VIEW, basis=np.asarray(VIEW.basis)[:, :2])
    rows, targets = X[:4].copy(), Y[:4].copy()
    rows[0, 0], targets[1], targets[2] = np.nan, np.nan, np.inf
    with np.errstate(invalid="ignore"):  # as in every kernel
        found = Duel(view, Squared(), OFFSETS[:2], 0.25).parts(rows, targets)[0]
    np.testing.assert_array_equal(found[:3], [[-0.25, 0.25]] * 3)
    assert abs(found[3, 1] - 0.25) > 1e-3
    kernel = Clamped(Duel(view, Squared(), OFFSETS[:2], 0.25), 1.0, 20).kernel()
    np.testing.assert_array_equal(kernel(rows[:3], targets[:3]), 3 * 2**18 * np.array([-1, 1]))
