"""What every certified minimiser must do: be near the true one, and move by no more than is declared."""

import dataclasses
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from tailguard import certified
from tailguard.domains import BallIntersection, L2Ball, Sparse
from tailguard.errors import LedgerError, ParameterError
from tailguard.losses import Absolute, Biweight, CustomLoss, Squared
from tailguard.losses.base import ResidualLoss
from tailguard.mechanisms import L2Laplace
from tailguard.plans.step import Step
from tailguard.run.run import _check
from tailguard.solvers.offset import Offset
from tailguard.statistics import Minimiser, PerturbedMinimiser, View, minimiser, statistic_type
from tests.support import neighbours
from tests.support.registry_minimisers import BITS, CLIP, LABELLED, MINIMISERS, PLAIN, SIZE, perturbed, records, source

ALL = pytest.mark.parametrize(
    "statistic", MINIMISERS, ids=lambda s: f"{s.kind}, {s.loss.name}, {s.dimension}, {s.ridge}, {s.bits}"
)
PERTURBED = [statistic for statistic in MINIMISERS if isinstance(statistic, PerturbedMinimiser)]


def norm_of(statistic):
    return statistic.norms[0]


@ALL
def test_no_replacement_exceeds_the_sensitivity(statistic):
    norm = norm_of(statistic)
    X, y = records(statistic, SIZE)
    before = statistic.evaluate(source(X, y))
    assert before.dtype == np.int64
    assert before.shape == (statistic.dimension,)
    others, targets = records(statistic, 25, seed=1)
    for k, (other, target) in enumerate(zip(others, targets, strict=True)):
        X_after, y_after = X.copy(), y.copy()
        X_after[k % SIZE], y_after[k % SIZE] = other, target
        change = statistic.evaluate(source(X_after, y_after)) - before
        assert neighbours.within(change, "l2", statistic.sensitivity(norm))


def opposed(statistic, sign):
    """Return records of which the first pulls as hard as it may, up or down, and the others not at all."""
    view = statistic.view
    X, y = np.full((SIZE, view.dimension_in), np.nan), np.full(SIZE, np.nan)
    row = np.zeros((1, view.dimension_in))
    row[0, 0] = 1.0
    far = (sign + 1.0) / 2.0 if statistic.loss.name in LABELLED else sign * 1e9
    record, target = neighbours.raw(view, row, np.array([far]))
    X[0], y[0] = record[0], target[0]
    return source(X, y)


@pytest.mark.parametrize("loss", [Squared(), Absolute(smoothing=0.1)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("curvature", [None, 200.0])
@pytest.mark.parametrize("d", [1, 3])
def test_some_replacement_comes_near_the_sensitivity(loss, d, curvature):
    """One record against nobody: from C/(λm) on one side of the centre to C/(λm) on the other."""
    statistic = Minimiser(View(d), loss, 0.5, 0.3, np.full(d, 0.1), SIZE, BITS, None, curvature)
    low, high = (statistic.evaluate(opposed(statistic, sign)) for sign in (-1.0, 1.0))
    assert np.linalg.norm((high - low).astype(float)) >= 0.95 * statistic.sensitivity("l2")
    assert neighbours.within(high - low, "l2", statistic.sensitivity("l2"))


def test_a_solver_that_errs_as_far_as_it_may_is_covered_and_the_tolerance_is_no_larger(monkeypatch):
    honest = certified.minimise
    sign = 1.0

    def lazy(objective, tolerance, domain=None):
        away = np.zeros(objective.centre.size)
        away[0] = sign * tolerance * (1.0 - 1e-3)
        return honest(objective, tolerance * 1e-3, domain) + away

    monkeypatch.setattr(minimiser, "minimise", lazy)
    for statistic in (
        Minimiser(PLAIN[2], Squared(), CLIP, 0.3, np.zeros(2), SIZE, BITS),
        perturbed(PLAIN[2], Squared()),
    ):
        values = []
        for side in (-1.0, 1.0):
            sign = side
            values.append(statistic.evaluate(opposed(statistic, side)))
        ratio = np.linalg.norm((values[1] - values[0]).astype(float)) / statistic.sensitivity(norm_of(statistic))
        assert 1.0 - 1e-4 <= ratio <= 1.0


@ALL
def test_values_are_those_of_a_plain_solver(statistic):
    X, y = records(statistic, SIZE, seed=3)
    w = statistic.evaluate(source(X, y)) * statistic.unit
    tolerance = minimiser.TOLERANCE if isinstance(statistic, Minimiser) else minimiser.TILTED_TOLERANCE
    distance = tolerance * 2**statistic.bits * statistic.unit + math.sqrt(statistic.dimension) * statistic.unit
    centre = np.asarray(getattr(statistic, "centre", np.zeros(statistic.dimension)))
    gradient = reference(statistic, X, y, centre)
    domain = getattr(statistic, "domain", None)
    if domain is None:
        # λ-strong convexity: ‖w − w*‖ ≤ ‖∇F(w)‖/λ, and ∇F is (λ + H)-Lipschitz.
        exact = refined(gradient, w, statistic.ridge)
    else:
        exact = w.copy()
        for _ in range(4000):
            exact = domain.project(exact - gradient(exact) / (statistic.ridge + statistic.curvature))
    assert np.linalg.norm(exact - w) <= distance * (1.0 + 1e-6)


def refined(gradient, w, ridge):
    """Return the zero of a strongly monotone gradient, by a generic method from scratch."""
    found = minimize(lambda v: 0.5 * gradient(v) @ gradient(v), w, method="Nelder-Mead", options={"xatol": 1e-13})
    return found.x if np.linalg.norm(gradient(found.x)) < np.linalg.norm(gradient(w)) else w - gradient(w) / ridge


def reference(statistic, X, y, centre):
    """Return the gradient of the objective, as plain as it can be written, in exact rationals where it matters."""
    with np.errstate(all="ignore"):
        Z, t = statistic.view.dense(X), statistic.view.target(y)
        norms = np.sqrt(np.square(Z).sum(axis=1))
        good = np.isfinite(norms) & (norms < 9.9e99) & (np.abs(t) <= 1e100) & (norms > 1.1e-100)
        if statistic.loss.name in LABELLED:
            good &= (t == 0.0) | (t == 1.0)
    Z, t, norms = Z[good], t[good], norms[good]
    weights = np.minimum(1.0, statistic.curvature / (statistic.loss.smoothness * norms**2))

    def gradient(w):
        slopes = weights * statistic.loss.derivative(Z @ w, t)
        clipped = np.clip(slopes, -statistic.clip / norms, statistic.clip / norms)
        return clipped @ Z / statistic.size + statistic.ridge * (w - centre)

    return gradient


@ALL
def test_order_does_not_matter_beyond_the_tolerance(statistic):
    X, y = records(statistic, SIZE, seed=4)
    shuffle = np.random.default_rng(0).permutation(SIZE)
    values = [statistic.evaluate(source(X[rows], y[rows])) for rows in (slice(None), shuffle)]
    slack = statistic.sensitivity(norm_of(statistic)) - 2.0 * 2**statistic.bits
    assert np.linalg.norm((values[1] - values[0]).astype(float)) <= slack


@ALL
def test_nobody_is_at_the_centre(statistic):
    X = np.full((SIZE, statistic.view.dimension_in), np.nan)
    w = statistic.evaluate(source(X, np.full(SIZE, np.nan))) * statistic.unit
    centre = np.asarray(getattr(statistic, "centre", np.zeros(statistic.dimension)))
    domain = getattr(statistic, "domain", None)
    expected = centre if domain is None else domain.project(centre)
    np.testing.assert_allclose(w, expected, atol=0.01 * CLIP / (statistic.ridge * SIZE) + statistic.unit)


@ALL
def test_units_and_sensitivities_are_rounded_the_safe_way(statistic):
    L, d = 2**statistic.bits, statistic.dimension
    radius = Fraction(statistic.clip) / (Fraction(statistic.ridge) * statistic.size)
    assert Fraction(statistic.unit) * L >= radius
    assert statistic.unit * L == pytest.approx(float(radius), rel=1e-15)
    tolerance = minimiser.TOLERANCE if isinstance(statistic, Minimiser) else minimiser.TILTED_TOLERANCE
    declared = Fraction(statistic.sensitivity(norm_of(statistic)))
    assert (declared - 2 * L * (1 + Fraction(tolerance))) ** 2 >= d
    assert float(declared) == pytest.approx(2 * L * (1 + tolerance) + math.sqrt(d), rel=1e-15)
    assert Fraction(statistic._distance(tolerance)) <= Fraction(tolerance) * L * Fraction(statistic.unit)


def test_rounding_to_the_grid_is_exact_and_saturates():
    statistic = Minimiser(View(3), Squared(), 1.0, 0.1, np.zeros(3), 3, 40)
    unit = Fraction(statistic.unit)
    point = np.array([1e5, -3.3e-7, 1e30])
    found = statistic._integers(point).tolist()
    assert found[2] == 2**62
    assert all(abs(Fraction(w) / unit - k) <= Fraction(1, 2) for w, k in zip(point[:2].tolist(), found, strict=False))
    assert any(int(w / statistic.unit) != round(Fraction(w) / unit) for w in np.linspace(1e4, 1e5, 50).tolist())


@ALL
def test_a_plan_accepts_the_statistic_with_its_mechanism_and_no_other(statistic):
    kind, norm = statistic_type(statistic.kind), norm_of(statistic)
    assert kind is type(statistic)
    sensitivity = kind.sensitivity_of(norm, statistic.dimension, statistic.bits)
    assert statistic.sensitivity(norm) == sensitivity
    for other in {"l1", "l2", "linf", "tilt"} - {norm}:
        with pytest.raises(ParameterError, match="norm"):
            statistic.sensitivity(other)
    if norm == "l2":
        step = Step("w", statistic.kind, statistic.dimension, statistic.bits, 1, sensitivity, L2Laplace(), 2.0)
        _check(statistic, step)
        with pytest.raises(LedgerError):
            _check(statistic, dataclasses.replace(step, dimension=statistic.dimension + 1))


@ALL
def test_minimisers_are_frozen_and_travel(statistic):
    X, y = records(statistic, SIZE, seed=5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        statistic.clip = 1.0
    again = pickle.loads(pickle.dumps(statistic))
    np.testing.assert_array_equal(again.evaluate(source(X, y)), statistic.evaluate(source(X, y)))


@ALL
def test_no_record_shows_in_a_message_or_a_printout(statistic):
    with pytest.raises(ParameterError, match=f"of {SIZE} records was asked of 3"):
        statistic.evaluate(source(np.zeros((3, statistic.view.dimension_in)), np.zeros(3)))
    with pytest.raises(ParameterError, match="is no sum over records"):
        statistic.kernel()(np.zeros((2, statistic.view.dimension_in)), np.zeros(2))


class Borrowed(ResidualLoss):
    """Claims what it likes."""

    name, convex, smoothness, lipschitz = "borrowed", True, 1e-9, 1.0
    _psi = _slope = _curvature = staticmethod(np.square)


@pytest.mark.parametrize(
    "loss", [Biweight(1.0), CustomLoss("own", lambda w, X, t: X), Borrowed(), Offset(Borrowed(), 1.0), "squared"]
)
@pytest.mark.parametrize("kind", [Minimiser, PerturbedMinimiser])
def test_losses_without_a_proof_are_refused(kind, loss):
    rest = (np.zeros(2), SIZE, BITS) if kind is Minimiser else (SIZE, BITS, 1.0)
    with pytest.raises(ParameterError, match=f"The 'loss' parameter of {kind.__name__} must be a convex loss"):
        kind(View(2), loss, 1.0, 1.0, *rest)


class Mirror(L2Ball):
    """Projects on the other side."""

    def project(self, point):
        return -super().project(point)


@pytest.mark.parametrize(
    "domain", [Mirror(2, 1.0), BallIntersection(Mirror(2, 1.0), (0.0, 0.0), 1.0), L2Ball(3, 1.0), Sparse(2, 1)]
)
def test_domains_without_a_proof_are_refused(domain):
    with pytest.raises(ParameterError, match="The 'domain' parameter of Minimiser must be one of tailguard"):
        Minimiser(View(2), Squared(), 1.0, 1.0, np.zeros(2), SIZE, BITS, domain)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"clip": 0.0}, "clip"),
        ({"clip": math.nan}, "clip"),
        ({"ridge": -1.0}, "ridge"),
        ({"size": 0}, "n|size"),
        ({"bits": 41}, "bits"),
        ({"size": 2**30}, "bits"),
        ({"curvature": math.inf}, "curvature"),
        ({"centre": [1.0]}, "centre"),
        ({"centre": [1.0, math.nan]}, "centre"),
    ],
)
def test_wrong_numbers_are_refused(changes, name):
    right = Minimiser(View(2), Squared(), 1.0, 1.0, np.zeros(2), SIZE, BITS, None, 1.0)
    with pytest.raises(ParameterError, match=f"The '({name})' parameter of"):
        dataclasses.replace(right, **changes)
    with pytest.raises(ParameterError, match="curvature"):
        perturbed(View(2), Squared(), curvature=None)


@pytest.mark.parametrize("statistic", PERTURBED, ids=lambda s: f"{s.loss.name}, {s.dimension}")
def test_a_tilt_moves_the_minimiser_to_where_it_is_balanced(statistic):
    X, y = records(statistic, SIZE, seed=6)
    gradient = reference(statistic, X, y, np.zeros(statistic.dimension))
    rng = np.random.default_rng(7)
    for length in (0.3, 3.0, 300.0):
        tilt = length * 2**statistic.bits * rng.standard_normal(statistic.dimension)
        w = statistic.minimise(source(X, y), tilt, 1e6 * statistic.radius) * statistic.unit
        needed = -gradient(w) / (statistic.ridge * statistic.unit)
        stiffness = 1.0 + statistic.curvature / statistic.ridge
        assert np.linalg.norm(needed - tilt) <= stiffness * (statistic.tolerance + statistic.dimension)


@pytest.mark.parametrize("statistic", PERTURBED, ids=lambda s: f"{s.loss.name}, {s.dimension}")
def test_far_tilts_are_folded_back_and_the_farthest_give_nothing_away(statistic):
    X, y = records(statistic, SIZE, seed=8)
    reach, d = 2.0 * statistic.radius, statistic.dimension
    direction = np.eye(d)[0]
    lengths = []
    for times in (0.1, 1.2, 1.9, 2.9):
        found = statistic.minimise(source(X, y), -times * reach * direction, reach).astype(float)
        plain = statistic.minimise(source(X, y), -times * reach * direction, 100.0 * reach).astype(float)
        folded = plain * np.clip(2.0 * reach / np.linalg.norm(plain) - 1.0, 0.0, 1.0)
        np.testing.assert_allclose(found, folded, atol=3.0 * statistic.tolerance)
        lengths.append(np.linalg.norm(found))
    assert max(lengths) <= reach
    assert lengths[-1] <= statistic.tolerance  # the minimiser is at least 2.9 − 0.5 reaches away
    assert not np.any(statistic.minimise(None, 3.0 * reach * direction, reach))  # no record is read


def test_the_fold_brings_no_two_points_apart():
    rng = np.random.default_rng(9)
    points = rng.standard_normal((400, 3)) * rng.uniform(0.0, 4.0, (400, 1))
    images = np.array([minimiser._folded(point, 1.0) for point in points])
    before = np.linalg.norm(points[:, None] - points, axis=-1)
    after = np.linalg.norm(images[:, None] - images, axis=-1)
    assert np.all(after <= before + 1e-12)
    assert np.all(images[np.linalg.norm(points, axis=1) >= 2.0] == 0.0)


@pytest.mark.parametrize("statistic", PERTURBED, ids=lambda s: f"{s.loss.name}, {s.dimension}")
def test_the_curvature_of_a_record_is_within_its_bound(statistic):
    """The gradient of one record, on a fine mesh through the origin, rises nowhere faster than H."""
    X, y = records(statistic, 24, seed=10)
    steps = np.linspace(-3.0, 3.0, 151) * 10.0 ** np.random.default_rng(11).integers(-3, 3, (24, 1))
    for record, target, mesh in zip(X, y, steps, strict=True):
        alone = np.full((SIZE, X.shape[1]), np.nan)
        alone[0] = record
        objective = statistic._objective(source(alone, np.full(SIZE, target)), np.zeros(statistic.dimension), None)
        row = np.nan_to_num(statistic.view.dense(record[np.newaxis])[0], posinf=0.0, neginf=0.0)
        size = np.abs(row).max()
        if not 0.0 < size < 1e90:
            continue
        direction = row / size / np.linalg.norm(row / size)
        pulls = np.array([direction @ objective.gradient(s * direction) for s in mesh]) - statistic.ridge * mesh
        rises = np.diff(pulls) * SIZE / np.diff(mesh)
        assert rises.max() <= statistic.curvature * (1.0 + 1e-6) + 1e-6
        assert rises.min() >= -1e-6
        assert np.abs(pulls).max() * SIZE <= statistic.clip * (1.0 + 1e-9)
