"""Every recipe × task × parameters for the contract suites. A new recipe gets its tests by being added here."""

from dataclasses import dataclass
from functools import cache

import numpy as np

import tailguard as tg
from tailguard import engines
from tailguard.engines import Engine
from tailguard.estimators.base import PrivateEstimator
from tailguard.plans import Moment, Plan


@dataclass(frozen=True, eq=False)
class Case:
    """An estimator, the public sizes of its data, and whether a budget of Gaussian noise is spent to the last drop."""

    name: str
    estimator: PrivateEstimator
    n: int = 400
    d: int = 3
    tight: bool = True

    def __str__(self) -> str:
        return self.name

    @property
    def plan(self) -> Plan:
        return _plan(self)

    @property
    def key(self) -> tuple[str, str, str]:
        """Recipe, task and parameters."""
        return self.plan.recipe, self.estimator._task, self.plan.parameters

    @property
    def classifies(self) -> bool:
        return isinstance(self.estimator, tg.LogisticRegression)

    def records(self, seed: int = 0) -> tuple[np.ndarray, ...]:
        """Return heavy-tailed records on different scales, as `fit` takes them."""
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, size=(self.n, self.d)) * 10.0 ** np.arange(self.d) + 5.0
        if self.estimator._task == "mean":
            return (X,)
        y = X @ (0.5 / 10.0 ** np.arange(self.d)) + rng.standard_t(3, size=self.n)
        return X, ((y > np.median(y)).astype(float) if self.classifies else y)

    def engine(self, *records: np.ndarray) -> Engine:
        return engines.open(*(records or self.records()))


@cache
def _plan(case: Case) -> Plan:
    return case.estimator.plan(case.n, case.d)


KNOWN = Moment(order=2.5, bound=40.0)
BUDGET = {"epsilon": 30.0, "delta": 1e-6, "random_state": 0}
PAPER = {"epsilon": 0.8, "delta": 1e-6, "random_state": 0, "parameters": "paper"}

CASES = [
    Case("centred mean", tg.Mean(**BUDGET)),
    Case("centred mean, pure", tg.Mean(epsilon=60.0, delta=0.0, random_state=0), tight=False),
    Case("centred mean, one column", tg.Mean(**BUDGET, radius=100.0), d=1),
    Case("clipped mean, paper", tg.Mean(**PAPER, method="clipping", moment=KNOWN), tight=False),
    Case("clipped mean, known moment", tg.Mean(**BUDGET, method="clipping", moment=KNOWN)),
    Case("clipped mean, private level", tg.Mean(**BUDGET, method="clipping")),
    Case("clipped mean, pure", tg.Mean(epsilon=60.0, delta=0.0, random_state=0, method="clipping"), tight=False),
    Case("linear", tg.LinearRegression(**BUDGET)),
    Case("linear, no intercept", tg.LinearRegression(**BUDGET, fit_intercept=False)),
    Case("linear, in a ball", tg.LinearRegression(**BUDGET, radius=1.0), d=2),
    Case("linear, paper", tg.LinearRegression(**PAPER, moment=KNOWN, radius=2.0), n=4000, tight=False),
    Case("logistic", tg.LogisticRegression(**BUDGET)),
    Case("logistic, no intercept", tg.LogisticRegression(**BUDGET, fit_intercept=False), d=2),
    Case("logistic, paper", tg.LogisticRegression(**PAPER, moment=KNOWN, radius=2.0), n=4000, tight=False),
]
