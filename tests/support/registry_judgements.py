"""Evaluations and selections for their contract suite. A new one gets its tests by being added here."""

from dataclasses import dataclass
from functools import cache

import numpy as np

import tailguard as tg
from tailguard import engines
from tailguard.estimators.selection import plan_select
from tailguard.plans import Plan
from tailguard.recipes.evaluation import Judged, plan_evaluation
from tailguard.solvers.feature_range import FeatureRange

PURE, SOME = tg.Privacy(60.0, 0.0), tg.Privacy(30.0, 1e-6)
SLOPES = (0.5, -0.05, 0.005)
THREE = (0, 1, 2)


@dataclass(frozen=True)
class Judgement:
    """A plan that judges models, and records for it."""

    name: str
    privacy: tg.Privacy
    classes: int = 0
    n: int = 400
    d: int = 3

    def __str__(self) -> str:
        return f"{self.name}, {self.privacy}"

    @property
    def plan(self) -> Plan:
        return _plan(self)

    def records(self, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, size=(self.n, self.d)) * 10.0 ** np.arange(self.d) + 5.0
        y = X @ (0.5 / 10.0 ** np.arange(self.d)) + rng.standard_t(3, size=self.n)
        if not self.classes:
            return X, y
        limits = np.quantile(y, np.arange(1, self.classes) / self.classes)
        return X, np.searchsorted(limits, y, side="left").astype(float)

    def engine(self, *records):
        return engines.open(*(records or self.records()))


@cache
def _plan(case: Judgement) -> Plan:
    kind, _, what = case.name.partition(" of ")
    if kind == "evaluation":
        judged = Judged(SLOPES, 0.1, what)
        return plan_evaluation(judged, case.n, case.privacy, judged.measures, 0.9)
    if kind == "held evaluation":
        return plan_evaluation(Judged(SLOPES, 0.1, what, (-20.0, 30.0)), case.n, case.privacy, ("r2",), 0.9)
    if kind == "drawn evaluation":
        ends = FeatureRange((5.0, 0.0, 1.0), (1.0, 0.0, 0.01), 4.0)
        judged = Judged(SLOPES, 0.1, what, rows=ends)
        return plan_evaluation(judged, case.n, case.privacy, judged.measures, 0.9)
    if kind == "error rate":
        return plan_evaluation(Judged(SLOPES, 0.1, what), case.n, case.privacy, ("error_rate",), 0.9)
    models, scoring = {
        "numbers": ([tg.LinearRegression(), tg.LinearRegression(fit_intercept=False)], "squared"),
        "medians": ([tg.LinearRegression(fit_intercept=False), tg.LeastAbsoluteDeviations()], "absolute"),
        "classes": ([tg.LogisticRegression(), tg.LogisticRegression(fit_intercept=False)], "log_loss"),
        "three classes": (
            [tg.LogisticRegression(classes=THREE), tg.LogisticRegression(classes=THREE, fit_intercept=False)],
            "log_loss",
        ),
        "mistakes": ([tg.LogisticRegression(classes=THREE), tg.LogisticRegression(classes=THREE)], "error_rate"),
        "margins": ([tg.LogisticRegression(), tg.LinearSVC()], "error_rate"),
    }[what]
    return plan_select(models, [None, (2, 0)], case.n, case.d, case.privacy, scoring)


JUDGEMENTS = [
    Judgement("evaluation of numbers", PURE),
    Judgement("evaluation of numbers", SOME),
    Judgement("held evaluation of numbers", PURE),
    Judgement("drawn evaluation of numbers", PURE),
    Judgement("drawn evaluation of log-odds", SOME, classes=2),
    Judgement("evaluation of log-odds", PURE, classes=2),
    Judgement("evaluation of log-odds", SOME, classes=2),
    Judgement("evaluation of margins", PURE, classes=2),
    Judgement("error rate of margins", SOME, classes=2),
    Judgement("selection of numbers", PURE),
    Judgement("selection of numbers", SOME),
    Judgement("selection of medians", PURE),
    Judgement("selection of classes", PURE, classes=2),
    Judgement("selection of margins", SOME, classes=2),
    Judgement("selection of three classes", SOME, classes=3),
    Judgement("selection of mistakes", SOME, classes=3),
]
