"""Wrong assumptions on tails cost accuracy only: sensitivities hold on the data, and the verified ε stays."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import tailguard as tg
from tailguard.audit import replay

TAO, ZHAO = tg.Moment(1.4, 20.0, "coordinate"), tg.Moment(2.5, 20.0, "direction")
PAPER = {"epsilon": 0.8, "delta": 1e-6, "parameters": "paper"}
PRACTICAL = {"epsilon": 30.0, "delta": 1e-6, "parameters": "practical"}


@dataclass(frozen=True, eq=False)
class Case:
    """A recipe, the moment that would be right, and an order that is too large for data with t1.5 or t3 tails."""

    kind: type
    method: str
    options: dict
    n: int = 400
    d: int = 3

    @property
    def right(self):
        return TAO if self.method in ("truncated_mean", "median_of_means") else ZHAO

    @property
    def wrong(self):
        order = 2.0 if self.right is TAO else 8.0
        small = self.right.bound / 100.0
        return {
            "order too large": replace(self.right, order=order),
            "bound too small": replace(self.right, bound=small),
            "both": replace(self.right, order=order, bound=small),
        }

    @property
    def descent(self):
        return self.kind is tg.LinearRegression and self.options["parameters"] == "paper"

    def estimator(self, moment):
        return self.kind(method=self.method, moment=moment, random_state=0, **self.options)

    def plan(self, moment):
        return self.estimator(moment).plan(self.n, self.d)

    def records(self, record):
        """Return heavy-tailed records, the first of them replaced."""
        rng = np.random.default_rng(0)
        freedom = 1.5 if self.right is TAO else 3.0
        X = 5.0 + 3.0 * rng.standard_t(freedom, (self.n, self.d))
        y = X.sum(axis=1) + rng.standard_t(freedom, self.n)
        X[0], y[0] = record, record
        return (X,) if self.kind is tg.Mean else (X, y)

    def __str__(self):
        return f"{self.kind.__name__} {self.method} {self.options['parameters']}"


BALL = {"radius": 2.0, "fit_intercept": False}
CASES = [
    Case(tg.Mean, "truncated_mean", PAPER, d=1),
    Case(tg.Mean, "truncated_mean", PRACTICAL),
    Case(tg.Mean, "median_of_means", PAPER),
    Case(tg.Mean, "median_of_means", PRACTICAL),
    Case(tg.Mean, "clipping", PAPER),
    Case(tg.Mean, "clipping", PRACTICAL),
    Case(tg.Mean, "iterative_updating", PAPER, n=3000, d=1),
    Case(tg.Mean, "iterative_updating", PRACTICAL, d=1),
    Case(tg.LinearRegression, "truncated_mean", PRACTICAL),
    Case(tg.LinearRegression, "median_of_means", PAPER | BALL, n=1500),
    Case(tg.LinearRegression, "median_of_means", PRACTICAL),
    Case(tg.LinearRegression, "median_of_means", PAPER | BALL | {"strong_convexity": 0.5}, n=1500),
    Case(tg.LinearRegression, "clipping", PAPER | BALL, n=1500),
    Case(tg.LinearRegression, "clipping", PRACTICAL),
    Case(tg.LinearRegression, "iterative_updating", PAPER | BALL | {"epsilon": 3e-4}, n=3000, d=1),
    Case(tg.LinearRegression, "iterative_updating", PRACTICAL | {"fit_intercept": False}, d=1),
]
BOTH = pytest.mark.parametrize("case", CASES, ids=str)


@BOTH
@pytest.mark.parametrize(
    ("lie", "record"), [("order too large", -1e9), ("bound too small", np.nan), ("both", -1e9)], ids=str
)
def test_sensitivities_hold_on_the_data(case, lie, record):
    found = replay(case.estimator(case.wrong[lie]), case.records(1e9), case.records(record))
    assert found.holds
    assert max(found.by_step.values()) <= 1.0


@BOTH
def test_a_wrong_bound_does_not_touch_the_noise(case):
    """Sensitivities are in units of the threshold: a bound moves the threshold and nothing that is accounted."""
    right, wrong = case.plan(case.right), case.plan(case.wrong["bound too small"])
    assert _accounted(wrong) == _accounted(right)
    assert tg.verify(wrong) == tg.verify(right)


@BOTH
@pytest.mark.parametrize("lie", ["order too large", "both"])
def test_a_wrong_order_does_not_touch_the_guarantee(case, lie):
    """Convex descents take their number of steps from the order, and the noise of a step from that number."""
    right, wrong = tg.verify(case.plan(case.right)), tg.verify(case.plan(case.wrong[lie]))
    if case.descent and case.method == "clipping":  # ρ ÷ T a step: whatever T is, the whole is ρ
        assert wrong.epsilon == pytest.approx(right.epsilon, rel=1e-9)
    elif case.descent and "strong_convexity" not in case.options:  # how loose Lemma 1 is depends on T
        assert wrong.epsilon <= case.options["epsilon"]
    else:
        assert wrong == right


def _accounted(plan):
    """What the accounting sees of each step; steps on blocks of their own cost one, however many there are."""
    return [
        (step.name, step.statistic, step.sensitivity, step.multiplier, step.count // step.blocks) for step in plan.steps
    ]


@pytest.mark.parametrize(("method", "moment"), [("truncated_mean", TAO), ("clipping", ZHAO)], ids=str)
def test_accuracy_is_what_suffers(method, moment):
    """With M a hundred times too small the threshold cuts off the mean itself; told the truth, it does not."""
    freedom = 1.5 if moment is TAO else 3.0
    X = 15.0 + np.random.default_rng(1).standard_t(freedom, (5_000, 1))
    right, wrong = (
        tg.Mean(method=method, moment=replace(moment, bound=bound), random_state=0, **PAPER).fit(X)
        for bound in (moment.bound, moment.bound / 100.0)
    )
    assert abs(right.mean_[0] - 15.0) < 7.0
    assert abs(wrong.mean_[0] - 15.0) > 10.0
    assert right.privacy_ == wrong.privacy_
