"""Numbers and preconditions of the thresholding recipes, and what the papers' sensitivities would be without them."""

import math

import numpy as np
import pytest

import tailguard as tg
from tailguard.domains import L2Ball, Sparse
from tailguard.engines import Block
from tailguard.errors import BudgetError, ParameterError
from tailguard.losses import Logistic, Squared, SquaredDistance
from tailguard.plans import Moment, Problem, verify
from tailguard.privacy import Privacy
from tailguard.recipes import catoni_thresholding, recipe, shrunken_thresholding, truncated_thresholding
from tailguard.statistics.smoothing import bound
from tests.support.noiseless import without_noise

N, D, S = 10_000, 400, 20
PRIVACY = Privacy(1.0, N**-1.1)
MODULES = [shrunken_thresholding, catoni_thresholding, truncated_thresholding]
MOMENTS = {shrunken_thresholding: Moment(4.0, 3.0, "coordinate")}
SECOND = Moment(2.0, 3.0, "coordinate")


def _problem(module, loss=None, domain=None, **changes):
    usual = {"moment": MOMENTS.get(module, SECOND), "smoothness": 5.0, "strong_convexity": 2.5}
    return Problem(loss or Squared(), domain or Sparse(D, S, 1.0), N, D, **(usual | changes))


def _printed(plan, scale):
    """The noise scale in w: multiplier × sensitivity × unit ÷ m × η, against what the paper prints."""
    (step,), solver = plan.steps, plan.solver
    unit = solver.entries.reach * 2.0**-step.bits
    m = solver.n / solver.steps
    assert step.multiplier * step.sensitivity * unit / m * solver.step_size == pytest.approx(scale(m), rel=1e-12)


@pytest.mark.parametrize("module", MODULES)
def test_theorems_numbers_worked_out_by_hand(module):
    """γ/μ = 2: T = ⌈2·ln 10 000⌉ = 19, s = min(72·4·20, 400), η = 2/15."""
    plan = module.plan_with(_problem(module), PRIVACY)
    solver = plan.solver
    assert (solver.steps, solver.blocks, solver.sparsity, solver.start) == (19, 19, 400, ())
    assert solver.step_size == pytest.approx(2 / 15)
    assert (plan.steps[0].count, plan.steps[0].blocks) == (19, 19)
    assert plan == recipe(plan.recipe).plan("regression", _problem(module), PRIVACY, "paper")


def test_noise_of_algorithm_3():
    plan = shrunken_thresholding.plan_with(_problem(shrunken_thresholding), PRIVACY, sparsity=S)
    K = 3.0 * (N / (S * 19)) ** 0.25
    assert plan.solver.entries.threshold == pytest.approx(K)
    width = 2 * math.sqrt(3 * S * math.log(1 / PRIVACY.delta))
    _printed(plan, lambda m: 2 * K**2 * (2 / 15) * (math.sqrt(S) + 1) / m * width)


def test_noise_of_algorithm_5_is_the_printed_one_though_it_is_loose():
    plan = catoni_thresholding.plan_with(_problem(catoni_thresholding), PRIVACY, sparsity=S, threshold=7.0, beta=0.5)
    width = 2 * math.sqrt(3 * S * math.log(1 / PRIVACY.delta))
    _printed(plan, lambda m: 4 * 7.0 * math.sqrt(2) * (2 / 15) / m * width)
    loose = [2 * math.sqrt(2) / number for number in (2 * math.sqrt(2) / 3, bound(1.0))]
    assert loose == pytest.approx([3.0, 4.394], rel=1e-3)


def test_noise_of_taos_algorithm_5():
    plan = truncated_thresholding.plan_with(_problem(truncated_thresholding), PRIVACY, sparsity=S, threshold=7.0)
    width = 4 * math.sqrt(2 * S * math.log(1 / PRIVACY.delta))
    _printed(plan, lambda m: 2 * 7.0 * (2 / 15) / m * width)


@pytest.mark.parametrize("module", MODULES)
def test_numbers_of_section_6_can_be_given(module):
    """s = c·s*, T = ⌊ln n⌋, a threshold, η, a random start; no moment and no convexity is asked for then."""
    start = np.zeros(D)
    start[:S] = 1 / math.sqrt(S)
    problem = _problem(module, moment=None, strong_convexity=0.0)
    numbers = {"sparsity": 2 * S, "steps": math.floor(math.log(N)), "threshold": 2.5, "step_size": 0.5, "start": start}
    plan = module.plan_with(problem, PRIVACY, **numbers)
    assert (plan.solver.sparsity, plan.solver.steps, plan.solver.step_size) == (40, 9, 0.5)
    assert plan.solver.entries.threshold == 2.5
    assert len(plan.solver.start) == S
    assert verify(plan).epsilon < 0.7  # what the printed noise really spends


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("sparsity", [20, 60, 400])
def test_the_printed_noise_is_enough_where_the_papers_say_so(module, epsilon, sparsity):
    plan = module.plan_with(_problem(module), Privacy(epsilon, 1e-5), sparsity=sparsity, threshold=3.0)
    assert verify(plan).epsilon <= epsilon


def test_printed_noise_that_is_not_enough_is_refused():
    with pytest.raises(BudgetError, match="The printed noise of shrunken_thresholding is too little for ε = 30"):
        shrunken_thresholding.plan_with(_problem(shrunken_thresholding), Privacy(30.0, 0.01))


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize(
    ("changes", "numbers", "sentence"),
    [
        ({"intercept": True}, {}, "'intercept' parameter of .* must be False"),
        ({"domain": L2Ball(D, 1.0)}, {}, "'domain' parameter of .* must be a Sparse domain"),
        ({"moment": None}, {}, "'moment' parameter of .* must be a Moment of every coordinate or direction"),
        ({"strong_convexity": 0.0}, {}, "'strong_convexity' parameter of .* must be greater than 0"),
        ({"strong_convexity": 9.0}, {}, "'strong_convexity' parameter of .* must be greater than 0 and at most"),
        ({}, {"start": np.ones(3)}, r"'start' parameter of .* must be a vector of 400 finite numbers. Got \(3,\)"),
        ({}, {"start": np.full(D, np.nan)}, "'start' parameter of .* must be a vector of 400 finite numbers"),
        ({}, {"start": np.full(D, 0.01), "sparsity": 30}, "'start' parameter of .* must be at most 30 pairs"),
        ({}, {"start": 1.01 * np.eye(D)[0]}, "'start' parameter of .* of Euclidean norm at most 1"),
        ({}, {"sparsity": 10}, "'sparsity' parameter of .* must be an integer of at least 20"),
        ({}, {"steps": 0}, "'steps' parameter of .* must be an integer of at least 1"),
        ({}, {"threshold": -1.0}, "'threshold' parameter of .* must be a finite number greater than 0"),
        ({}, {"step_size": -1.0}, "'step_size' parameter of .* must be a finite number greater than 0"),
    ],
)
def test_preconditions(module, changes, numbers, sentence):
    with pytest.raises(ParameterError, match=sentence):
        module.plan_with(_problem(module, **changes), PRIVACY, **numbers)


def test_algorithm_3_is_for_least_squares_in_a_ball():
    with pytest.raises(ParameterError, match=r"'loss' parameter of shrunken_thresholding .* must be squared"):
        shrunken_thresholding.plan_with(_problem(shrunken_thresholding, Logistic()), PRIVACY)
    free = Problem(Squared(), Sparse(D, S), N, D, moment=Moment(4.0, 1.0), strong_convexity=1.0)
    with pytest.raises(ParameterError, match=r"'domain' parameter of shrunken_thresholding .* must be bounded"):
        shrunken_thresholding.plan_with(free, PRIVACY)


def test_more_steps_than_records_are_refused():
    small = Problem(Squared(), Sparse(3, 1, 1.0), 5, 3, moment=Moment(4.0, 1.0), strong_convexity=0.01)
    with pytest.raises(BudgetError, match="A block of records for every step cannot be carried by n = 5 rows"):
        shrunken_thresholding.plan_with(small, PRIVACY)


def _moved(x, y, w, K, eta, m):
    """How far line 5 of Algorithm 3, as printed, moves when (x, y) replaces (−x, y) among m records: in ℓ∞."""
    steps = []
    for sign in (1.0, -1.0):
        shrunken, target = np.clip(sign * x, -K, K), np.clip(y, -K, K)
        steps.append(eta / m * shrunken * (shrunken @ w - target))
    return np.abs(steps[0] - steps[1]).max()


def _worst(w, K, eta, m):
    """Two records at the corners of the shrunken box that pull a coordinate as far apart as they can."""
    x = K * np.where(w == 0, 1.0, np.sign(w))
    one = eta / m * x * (x @ w + K)
    x[-1] *= -1.0  # a coordinate outside the support of w, so the residual stays
    other = eta / m * x * (x @ w + K)
    return np.abs(one - other).max()


def test_the_sensitivity_of_algorithm_3_is_tight_and_needs_a_sparse_start_of_norm_one():
    """λ = 2K²η(√s + 1)/m: reached with ‖w¹‖₂ = 1 and s entries, exceeded as soon as either is wrong."""
    K, eta, m, s, d = 2.0, 0.5, 100, 4, 40
    printed = 2 * K**2 * eta * (math.sqrt(s) + 1) / m
    good, long, dense = np.zeros(d), np.zeros(d), np.zeros(d)
    good[:s], long[:s], dense[: d - 1] = 1 / math.sqrt(s), 3 / math.sqrt(s), 1 / math.sqrt(d - 1)
    assert _worst(good, K, eta, m) == pytest.approx(printed)
    assert _worst(long, K, eta, m) > 2 * printed
    assert _worst(dense, K, eta, m) > 2 * printed
    problem = Problem(Squared(), Sparse(d, s, 1.0), 100 * m, d, smoothness=1.0)
    numbers = {"sparsity": s, "steps": 100, "threshold": K, "step_size": eta}
    shrunken_thresholding.plan_with(problem, PRIVACY, start=good, **numbers)
    for start in (long, dense):
        with pytest.raises(ParameterError, match="The 'start' parameter of HardThresholding must be at most 4 pairs"):
            shrunken_thresholding.plan_with(problem, PRIVACY, start=start, **numbers)


def test_blocks_that_look_at_the_records_would_break_the_promise():
    """Blocks of sorted targets: one new record moves others across all borders, so that every block changes."""
    rng = np.random.default_rng(0)
    n, count = 100, 10
    y = rng.normal(size=n)
    other = y.copy()
    other[np.argmin(y)] = 10.0

    def sums(values, rows):
        return np.array([values[part].sum() for part in rows])

    by_value = [np.array_split(np.argsort(values), count) for values in (y, other)]
    assert np.all(sums(y, by_value[0]) != sums(other, by_value[1]))
    by_row = [Block(k, count).rows(n) for k in range(count)]  # no argument through which a record could speak
    assert np.sum(sums(y, by_row) != sums(other, by_row)) == 1


@pytest.mark.parametrize("name", ["catoni_thresholding", "truncated_thresholding"])
def test_sparse_means_of_the_papers(name):
    """A mean has γ = μ = 1 whatever the problem says: T = ⌈ln n⌉, s = 72s*, η = 2/3."""
    problem = Problem(SquaredDistance(), Sparse(D, 2), N, D, moment=SECOND, smoothness=9.0)
    solver = recipe(name).plan("mean", problem, PRIVACY, "paper").solver
    assert (solver.steps, solver.sparsity) == (10, 144)
    assert solver.step_size == pytest.approx(2 / 3)


def _sparse_records(seed, n, d, s, law):
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.normal(size=(n, d)),
        "student": lambda: rng.standard_t(3, size=(n, d)),
        "lognormal": lambda: rng.lognormal(0.0, 0.8, size=(n, d)),
    }[law]()
    w = np.zeros(d)
    w[rng.choice(d, s, replace=False)] = rng.choice([-1.0, 1.0], s)
    return X, X @ w + 3.0 + rng.lognormal(0.0, 0.7, n), w


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("law", ["normal", "student", "lognormal"])
def test_practical_parameters_beat_the_null_model(module, law):
    n, d, s = 6000, 60, 4
    domain, risks = Sparse(d, s), []
    for seed in range(3):
        X, y, w = _sparse_records(seed, n, d, s, law)
        found = tg.minimize(
            Squared(), domain, (X, y), Privacy(1.0, 1e-5), method=module.NAME, intercept=True, random_state=seed
        )
        Z = X - X.mean(axis=0)
        risks.append(np.mean((Z @ (found.estimate.coefficients - w)) ** 2) / np.mean((Z @ w) ** 2))
    assert np.median(risks) < {"normal": 0.1, "student": 0.3, "lognormal": 0.5}[law]


@pytest.mark.parametrize("module", MODULES)
def test_units_do_not_matter(module):
    X, y, w = _sparse_records(0, 3000, 10, 2, "student")
    problem = Problem(Squared(), Sparse(10, 2), 3000, 10, intercept=True)
    plan = recipe(module.NAME).plan("regression", problem, Privacy(5.0, 1e-5))
    one, other = without_noise(plan, X, y), without_noise(plan, X * 1e-3, y * 1e4)
    np.testing.assert_allclose(other, one * 1e7, rtol=1e-2)
    assert np.array_equal(one != 0.0, w != 0.0)


def test_a_budget_that_carries_nothing_is_refused_with_what_would_do():
    practical = recipe("shrunken_thresholding")
    with pytest.raises(BudgetError, match="A private scale of the target cannot be carried by n = 200 rows"):
        practical.plan("regression", Problem(Squared(), Sparse(20, 3), 200, 20), PRIVACY)
    with pytest.raises(BudgetError, match=r"A peeled gradient cannot be carried by n = 1000 rows .* needs about"):
        practical.plan("regression", Problem(Squared(), Sparse(D, S), 1000, D), PRIVACY)
    rows = 10 * N
    assert verify(practical.plan("regression", Problem(Squared(), Sparse(D, S), rows, D), PRIVACY)).epsilon <= 1.0


def test_practical_parameters_need_a_smooth_loss_and_a_sparse_domain():
    practical = recipe("shrunken_thresholding")
    with pytest.raises(ParameterError, match="'loss' parameter of shrunken_thresholding must be a smooth loss"):
        practical.plan("regression", Problem(SquaredDistance(), Sparse(D, S), N, D), PRIVACY)
    with pytest.raises(ParameterError, match="'domain' parameter of shrunken_thresholding must be a Sparse domain"):
        practical.plan("regression", Problem(Squared(), L2Ball(D, 1.0), N, D), PRIVACY)


@pytest.mark.parametrize("law", ["normal", "student", "lognormal"])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_sparse_means_are_found_or_left_at_zero(law, epsilon):
    """Never worse than 0 by more than 5 % in median, and as good as the columns' own spread allows."""
    n, d, s, errors = 4000, 100, 5, []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = _sparse_records(seed, n, d, s, law)[0]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        mean = np.zeros(d)
        mean[rng.choice(d, s, replace=False)] = 0.5
        found = tg.Mean(epsilon=epsilon, delta=1e-5, domain=Sparse(d, s), method="sparse_mean", random_state=seed)
        errors.append(np.sum((found.fit(X + mean).mean_ - mean) ** 2) / np.sum(mean**2))
    assert np.median(errors) < (0.1 if epsilon == 1.0 else 1.05)


def test_sparse_means_need_a_sparse_domain_and_a_scale():
    practical = recipe("sparse_mean")
    with pytest.raises(ParameterError, match="'domain' parameter of sparse_mean must be a Sparse domain"):
        practical.plan("mean", Problem(SquaredDistance(), L2Ball(D, 1.0), N, D), PRIVACY)
    with pytest.raises(ParameterError, match="'loss' parameter of sparse_mean must be squared distance"):
        practical.plan("mean", Problem(Squared(), Sparse(D, S), N, D), PRIVACY)
    with pytest.raises(BudgetError, match="A private scale cannot be carried by n = 50 rows"):
        practical.plan("mean", Problem(SquaredDistance(), Sparse(D, S), 50, D), PRIVACY)
