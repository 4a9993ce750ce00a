"""Every recipe × task × parameters for the contract suites. A new recipe gets its tests by being added here."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import tailguard as tg
from tailguard import engines
from tailguard.domains import L2Ball, WholeSpace
from tailguard.engines import Engine
from tailguard.losses import CustomLoss, Huber, Logistic, RecordLoss, Squared
from tailguard.plans import Moment, Plan, Problem
from tailguard.privacy import Privacy
from tailguard.recipes import recipe


class Descent:
    """`minimize` as a thing that plans and fits, like the estimators."""

    _task = "regression"

    def __init__(self, loss, domain, epsilon=30.0, delta=1e-6, random_state=0, **options):
        self.loss, self.domain = loss, domain
        self.options = {"epsilon": epsilon, "delta": delta, "random_state": random_state, **options}

    def get_params(self):
        return {"loss": self.loss, "domain": self.domain, **self.options}

    def plan(self, n, d):
        keys = ("intercept", "moment", "smoothness", "strong_convexity")
        problem = Problem(
            self.loss, self.domain, n, d, **{key: self.options[key] for key in keys if key in self.options}
        )
        chosen = recipe(self.options.get("method", "clipping"))
        return chosen.plan("regression", problem, self._privacy, self.options.get("parameters", "practical"))

    def fit(self, *records):
        options = {key: value for key, value in self.options.items() if key not in ("epsilon", "delta")}
        self.release_ = tg.minimize(
            self.loss, self.domain, records if len(records) > 1 else records[0], self._privacy, **options
        )
        self.plan_ = self.release_.plan
        return self

    @property
    def _privacy(self):
        return Privacy(self.options["epsilon"], self.options["delta"])


@dataclass(frozen=True, eq=False)
class Case:
    """An estimator, the public sizes of its data, and whether a budget of Gaussian noise is spent to the last drop."""

    name: str
    estimator: Any
    n: int = 400
    d: int = 3
    tight: bool = True

    def __str__(self) -> str:
        return self.name

    @property
    def plan(self) -> Plan:
        return _plan(self)

    @property
    def dear(self) -> bool:
        """Whether a run takes long: many records and steps, or a projection in each step."""
        return (
            400 < self.n < 10**4
            or not isinstance(self.plan.problem.domain, WholeSpace)
            or "updating" in self.plan.recipe
        )

    @property
    def key(self) -> tuple[str, str, str]:
        """Recipe, task and parameters."""
        return self.plan.recipe, self.estimator._task, self.plan.parameters

    def records(self, seed: int = 0) -> tuple[np.ndarray, ...]:
        """Return heavy-tailed records on different scales, as `fit` takes them."""
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, size=(self.n, self.d)) * 10.0 ** np.arange(self.d) + 5.0
        if self.estimator._task == "mean" or isinstance(self.plan.problem.loss, RecordLoss):
            return (X,)
        y = X @ (0.5 / 10.0 ** np.arange(self.d)) + rng.standard_t(3, size=self.n)
        return X, ((y > np.median(y)).astype(float) if isinstance(self.plan.problem.loss, Logistic) else y)

    def engine(self, *records: np.ndarray) -> Engine:
        return engines.open(*(records or self.records()))


@cache
def _plan(case: Case) -> Plan:
    return case.estimator.plan(case.n, case.d)


def _cubes(point, rows, target):
    """A gradient that no bound holds for."""
    return (point - rows[:, : point.size]) ** 3


BUDGET = {"epsilon": 30.0, "delta": 1e-6, "random_state": 0}
PURE = {"epsilon": 60.0, "delta": 0.0, "random_state": 0}
KNOWN = {"moment": Moment(order=2.5, bound=40.0)}
HEAVY = {"moment": Moment(order=1.5, bound=40.0, of="coordinate")}
PAPER = {"epsilon": 0.8, "delta": 1e-6, "random_state": 0, "parameters": "paper"}
TAO = {"method": "median_of_means"}
UPDATING = {"method": "iterative_updating"}
Linear, Logit = tg.LinearRegression, tg.LogisticRegression

CASES = [
    Case("centred mean", tg.Mean(**BUDGET)),
    Case("centred mean, pure", tg.Mean(**PURE), tight=False),
    Case("centred mean, one column", tg.Mean(**BUDGET, radius=100.0), d=1),
    Case("clipped mean, paper", tg.Mean(**PAPER, method="clipping", **KNOWN), tight=False),
    Case("clipped mean, known moment", tg.Mean(**BUDGET, method="clipping", **KNOWN)),
    Case("clipped mean, private level", tg.Mean(**BUDGET, method="clipping")),
    Case("clipped mean, pure", tg.Mean(**PURE, method="clipping"), tight=False),
    Case("truncated mean, paper", tg.Mean(**PAPER, method="truncated_mean", **HEAVY), d=1, tight=False),
    Case("truncated mean", tg.Mean(**BUDGET, method="truncated_mean")),
    Case("median of means, paper", tg.Mean(**PAPER, **TAO, **HEAVY), tight=False),
    Case("median of means", tg.Mean(**BUDGET, **TAO)),
    Case("iterative updating", tg.Mean(**BUDGET, **UPDATING), d=1),
    Case("iterative updating, paper", tg.Mean(**PAPER, **UPDATING, **KNOWN), n=3000, d=1, tight=False),
    Case("linear", Linear(**BUDGET)),
    Case("linear, no intercept", Linear(**BUDGET, fit_intercept=False)),
    Case("linear, in a ball", Linear(**BUDGET, radius=1.0, fit_intercept=False), d=2),
    Case("linear, paper", Linear(**PAPER, **KNOWN, radius=2.0), n=4000, tight=False),
    Case("linear, truncated", Linear(**BUDGET, method="truncated_mean")),
    Case("linear, medians", Linear(**BUDGET, **TAO)),
    Case("linear, medians, paper, convex", Linear(**PAPER, **TAO, **HEAVY, radius=2.0), n=4000, tight=False),
    Case(
        "linear, medians, paper, strongly convex",
        Descent(Squared(), L2Ball(3, 2.0), strong_convexity=0.5, **PAPER, **TAO, **HEAVY),
        n=4000,
        tight=False,
    ),
    # One coefficient: the iteration is exact and fast there, and the accounting is the same.
    Case("linear, updating", Linear(**BUDGET, **UPDATING, fit_intercept=False), d=1),
    Case(
        "linear, updating, paper",
        Linear(**(PAPER | {"epsilon": 3e-4}), **UPDATING, **KNOWN, radius=2.0, fit_intercept=False),
        n=3000,
        d=1,
        tight=False,
    ),
    Case("logistic", Logit(**BUDGET)),
    Case("logistic, no intercept", Logit(**BUDGET, fit_intercept=False), d=2),
    Case("logistic, paper", Logit(**PAPER, **KNOWN, radius=2.0), n=4000, tight=False),
    Case("huber", Descent(Huber(1.0), WholeSpace(2), intercept=True), d=2),
    Case("custom loss", Descent(CustomLoss("cubes", _cubes), L2Ball(2, 100.0))),
]
