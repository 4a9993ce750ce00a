"""Every recipe × task × parameters for the contract suites. A new recipe gets its tests by being added here."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import tailguard as tg
from tailguard import engines
from tailguard.domains import Box, L1Ball, L2Ball, Polytope, Simplex, Sparse, WholeSpace
from tailguard.engines import Engine
from tailguard.losses import Biweight, CustomLoss, Hinge, Huber, Logistic, RecordLoss, Squared
from tailguard.plans import Moment, Plan, Problem, Scales
from tailguard.privacy import Privacy
from tailguard.recipes import recipe
from tailguard.recipes.automatic import choose_recipe


class Descent:
    """`minimize` as a thing that plans and fits, like the estimators."""

    _task = "regression"

    def __init__(self, loss, domain, epsilon=30.0, delta=1e-6, random_state=0, **options):
        self.loss, self.domain = loss, domain
        self.options = {"epsilon": epsilon, "delta": delta, "random_state": random_state, **options}

    def get_params(self):
        return {"loss": self.loss, "domain": self.domain, **self.options}

    def plan(self, n, d):
        keys = ("intercept", "moment", "smoothness", "strong_convexity", "scales")
        problem = Problem(
            self.loss, self.domain, n, d, **{key: self.options[key] for key in keys if key in self.options}
        )
        parameters = self.options.get("parameters", "practical")
        name = self.options.get("method") or choose_recipe("regression", problem, self._privacy, parameters)
        return recipe(name).plan("regression", problem, self._privacy, parameters)

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
        if self.estimator._task == "classes":
            return X, rng.integers(0, 4, self.n).astype(float)  # the last one is no class
        if self.estimator._task == "mean" or isinstance(self.plan.problem.loss, RecordLoss):
            return (X,)
        y = X @ (0.5 / 10.0 ** np.arange(self.d)) + rng.standard_t(3, size=self.n)
        return X, ((y > np.median(y)).astype(float) if isinstance(self.plan.problem.loss, Logistic | Hinge) else y)

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

SECOND = {"moment": Moment(order=2.0, bound=40.0, of="coordinate")}
FOURTH = {"moment": Moment(order=4.0, bound=40.0, of="coordinate")}
PURE_PAPER = {"epsilon": 0.8, "delta": 0.0, "random_state": 0, "parameters": "paper"}
WOLFE, LASSO = {"method": "frank_wolfe"}, {"method": "shrunken_lasso"}
HULL = Polytope([(0.1, 0.0, 0.0), (0.6, 0.0, 0.1), (0.1, 0.2, 0.0), (0.3, -0.1, -0.2)])

OUTPUT = {"method": "output_perturbation"}
SHRUNKEN = {"method": "shrunken_thresholding"}
CATONI = {"method": "catoni_thresholding"}
TRUNCATED = {"method": "truncated_thresholding"}
CURVED = {"strong_convexity": 0.5}

LENGTH = {"moment": Moment(order=2.0, bound=40.0, of="norm")}
MAPPING, DOUBLE = {"method": "gradient_mapping"}, {"method": "double_output_perturbation"}
EXPONENTIAL = {"method": "approximate_exponential"}
FEW, FREE = Sparse(3, 1, 2.0), Sparse(3, 2)
UNITS = {"features": (2.0, 20.0, 200.0), "centres": 5.0}
SMALL = {"epsilon": 3.0, "delta": 1e-6, "random_state": 0}

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
    Case("public scales", Linear(**SMALL, scales=Scales(**UNITS, target=2.0, target_centre=7.0)), tight=False),
    Case("public scales, classes", Logit(**SMALL, scales=Scales(**UNITS)), tight=False),
    Case("mean without centres", tg.Mean(**(SMALL | {"epsilon": 2.0}))),
    Case("small budget", Linear(**(SMALL | {"epsilon": 4.0})), tight=False),
    Case("small budget, means", Linear(**(SMALL | {"epsilon": 1.5}), scales=Scales(target_centre=5.0)), tight=False),
    Case("small budget, huber in a ball", tg.RobustRegression(**SMALL, fit_intercept=False, radius=1.0), tight=False),
    Case("small budget, classes, means", Logit(**(SMALL | {"epsilon": 1.5})), tight=False),
    Case("small budget, margin, some scales", tg.LinearSVC(**SMALL, scales=Scales(features=20.0)), tight=False),
    Case("small budget, biweight", Descent(Biweight(0.5), WholeSpace(3), 4.0, intercept=True), tight=False),
    Case("linear, clipping", Linear(**BUDGET, method="clipping"), d=2),
    Case("logistic, three classes", Logit(**BUDGET, classes=(0, 1, 2)), d=2),
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
    Case("Frank-Wolfe, paper", Descent(Squared(), L1Ball(3, 1.0), **PURE_PAPER, **WOLFE, **SECOND), tight=False),
    Case(
        "Frank-Wolfe, paper, biweight", Descent(Biweight(2.0), L1Ball(3, 1.0), **PAPER, **WOLFE, **SECOND), tight=False
    ),
    Case("Frank-Wolfe, paper, polytope", Descent(Logistic(), HULL, **PURE_PAPER, **WOLFE, **SECOND), tight=False),
    Case("Frank-Wolfe, pure", Descent(Squared(), L1Ball(3, 1.0), intercept=True, **PURE, **WOLFE)),
    Case("Frank-Wolfe", Descent(Huber(1.0), L1Ball(3, 1.0), intercept=True, **WOLFE)),
    Case("Frank-Wolfe, classes", Descent(Logistic(), Simplex(3), **WOLFE)),
    Case("Frank-Wolfe, polytope", Descent(Squared(), HULL, **WOLFE)),
    Case("shrunken lasso, paper", Descent(Squared(), L1Ball(3, 2.0), **PAPER, **LASSO, **FOURTH), tight=False),
    Case("shrunken lasso", Descent(Squared(), L1Ball(3, 2.0), intercept=True, **LASSO)),
    Case("shrunken lasso, pure", Descent(Squared(), L1Ball(3, 2.0), **PURE, **LASSO)),
    Case("shrunken thresholding, paper", Descent(Squared(), FEW, **CURVED, **PAPER, **SHRUNKEN, **FOURTH), tight=False),
    Case("Catoni thresholding, paper", Descent(Logistic(), FREE, **CURVED, **PAPER, **CATONI, **SECOND), tight=False),
    Case(
        "truncated thresholding, paper", Descent(Squared(), FREE, **CURVED, **PAPER, **TRUNCATED, **HEAVY), tight=False
    ),
    Case("Catoni peeling, paper", tg.Mean(domain=FREE, **PAPER, **CATONI, **SECOND), tight=False),
    Case("truncated peeling, paper", tg.Mean(domain=FEW, **PAPER, **TRUNCATED, **HEAVY), tight=False),
    Case("shrunken thresholding", Descent(Squared(), FREE, intercept=True, **SHRUNKEN), tight=False),
    Case("Catoni thresholding", Descent(Logistic(), FREE, intercept=True, **CATONI), tight=False),
    Case("truncated thresholding", Descent(Huber(1.0), FEW, **TRUNCATED), tight=False),
    Case(
        "truncated thresholding, pure",
        Descent(Squared(), FREE, **(PURE | {"epsilon": 300.0}), **TRUNCATED),
        tight=False,
    ),
    Case("Catoni peeling", tg.Mean(domain=FREE, **BUDGET, **CATONI), tight=False),
    Case("truncated peeling", tg.Mean(domain=FEW, **BUDGET, **TRUNCATED), tight=False),
    Case("sparse mean", tg.Mean(domain=FREE, **BUDGET, method="sparse_mean"), tight=False),
    Case("sparse mean, pure", tg.Mean(domain=FEW, **PURE, method="sparse_mean"), tight=False),
    Case("gradient mapping, paper", Descent(Squared(), L2Ball(2, 1.0), **PURE_PAPER, **MAPPING, **LENGTH), d=2),
    Case(
        "gradient mapping, paper, classes",
        Descent(Logistic(), Box((-1.0,), (2.0,)), **PURE_PAPER, **MAPPING, **LENGTH),
        d=1,
    ),
    Case("gradient mapping", Descent(Squared(), WholeSpace(2), **PURE, **MAPPING), d=2),
    Case("gradient mapping, classes", Descent(Logistic(), Box((0.0,), (1.0,)), intercept=True, **PURE, **MAPPING), d=1),
    Case("gradient mapping, robust", Descent(Huber(1.0), WholeSpace(1), intercept=True, **PURE, **MAPPING), d=1),
    Case(
        "double output perturbation, paper",
        Descent(Squared(), L2Ball(3, 1.0), **PURE_PAPER, **DOUBLE, **LENGTH),
        tight=False,
    ),
    Case(
        "approximate exponential mechanism, paper",
        Descent(Logistic(), L2Ball(2, 1.0), **PURE_PAPER, **EXPONENTIAL, **LENGTH),
        d=2,
        tight=False,
    ),
    Case(
        "sparse mean, small budget",
        tg.Mean(domain=FREE, **(BUDGET | {"epsilon": 2.0}), method="sparse_mean"),
        tight=False,
    ),
    Case("sparse rounds", tg.SparseLinearRegression(1, **BUDGET)),
    Case("sparse rounds, classes", tg.SparseLogisticRegression(2, radius=2.0, fit_intercept=False, **BUDGET)),
    Case("sparse path", tg.SparseLinearRegression(**BUDGET)),
    Case("sparse path, classes", tg.SparseLogisticRegression(3, method="sparse_path", **BUDGET), d=5),
    Case("centred descent", tg.Lasso(2.0, method="centred_descent", **BUDGET)),
    Case("centred descent, classes", Logit(method="centred_descent", fit_intercept=False, **BUDGET)),
    Case("biweight", tg.RobustRegression("biweight", **BUDGET), d=2),
    Case("least absolute deviations", tg.LeastAbsoluteDeviations(**BUDGET), d=2),
    Case("support vector machine", tg.LinearSVC(fit_intercept=False, **BUDGET), d=2),
    Case("objective perturbation", Linear(**(PURE | {"epsilon": 30.0}))),
    Case("objective perturbation, own units", Linear(**(PURE | {"epsilon": 300.0}), radius=1.0), d=2),
    Case("objective perturbation, small budget", Linear(**(PURE | {"epsilon": 1.0}), fit_intercept=False)),
    Case("objective perturbation, smallest budget", Linear(**(PURE | {"epsilon": 0.8}), fit_intercept=False)),
    Case("objective perturbation, averaged units", Linear(**(PURE | {"epsilon": 17.5})), d=40),
    Case("objective perturbation, common units", Logit(**(PURE | {"epsilon": 14.0})), d=50),
    Case("objective perturbation, classes", Logit(**(PURE | {"epsilon": 3.0}))),
    Case("objective perturbation, median", tg.LeastAbsoluteDeviations(**(PURE | {"epsilon": 3.0}))),
    Case("objective perturbation, margin", tg.LinearSVC(**(PURE | {"epsilon": 3.0}))),
    Case("objective perturbation, known moment", Linear(**(PURE | {"epsilon": 3.0}), **KNOWN)),
    Case("output perturbation", Linear(**(PURE | {"epsilon": 30.0}), **OUTPUT)),
    Case("output perturbation, classes", Logit(**(PURE | {"epsilon": 3.0}), **OUTPUT, fit_intercept=False)),
    Case("output perturbation, known moment", tg.LeastAbsoluteDeviations(1.0, **PURE, **OUTPUT, **KNOWN)),
]
