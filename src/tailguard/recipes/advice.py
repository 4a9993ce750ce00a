"""Which recipe, and what error to expect: a ranked table and a curve over ε, from public facts alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tailguard._validate import choice, integer, real, refuse
from tailguard.domains.base import Domain
from tailguard.domains.sparse import Sparse
from tailguard.domains.whole_space import WholeSpace
from tailguard.errors import ParameterError, TailguardError
from tailguard.losses.absolute import Absolute
from tailguard.losses.base import Loss, RecordLoss
from tailguard.losses.biweight import Biweight
from tailguard.losses.hinge import Hinge
from tailguard.losses.huber import Huber
from tailguard.losses.logistic import Logistic
from tailguard.losses.squared import Squared
from tailguard.losses.squared_distance import SquaredDistance
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.automatic import choose_recipe
from tailguard.recipes.base import Recipe, Task
from tailguard.recipes.feasible import TooFewRowsError
from tailguard.recipes.prediction import MEAN_UNIT, RISK_UNIT, risk
from tailguard.solvers.scales import Scales

__all__ = ["EPSILONS", "LOSSES", "Advice", "Option", "Point", "advise"]

LOSSES: dict[str, Loss | RecordLoss] = {
    "mean": SquaredDistance(),
    "squared": Squared(),
    "logistic": Logistic(),
    "huber": Huber(1.345, relative=True),
    "biweight": Biweight(4.685, relative=True),
    "absolute": Absolute(0.1, relative=True),
    "hinge": Hinge(0.1),
}
"""By name, with the estimators' own parameters."""

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Of the curve."""

LARGEST = 2**40
"""More rows are never asked for."""


@dataclass(frozen=True)
class Option:
    """A recipe that could do it, or says what it would need.

    Attributes
    ----------
    recipe, source : str
        Its name, and where it comes from.
    predicted : float or None
        What error to expect; None where that was not measured, or where it is refused.
    refusal : str or None
        Why the budget cannot carry it, and what would.
    rows : int or None
        About how many rows would be enough, where there are too few.
    automatic : bool
        Whether `method="auto"` takes it.
    delta : float
        The δ that it spends: 0 where "auto" takes it because every recipe with a δ needs more rows.
    """

    recipe: str
    source: str
    predicted: float | None
    refusal: str | None
    rows: int | None
    automatic: bool
    delta: float


@dataclass(frozen=True)
class Point:
    """A point of the curve: the recipe that `method="auto"` takes at an ε, its δ, and what error to expect of it."""

    epsilon: float
    recipe: str
    predicted: float | None
    refusal: str | None
    delta: float


@dataclass(frozen=True)
class Advice:
    """A ranked table of recipes, and errors at other budgets.

    Attributes
    ----------
    problem, privacy : Problem, Privacy
        The public facts.
    signal_to_noise : float
        Assumed.
    unit : str
        What the predicted errors are.
    options : tuple of Option
        The recipes, the best first, then those whose error nobody has measured, then those that are refused.
    curve : tuple of Point
        Errors at other ε with the same δ.
    """

    problem: Problem
    privacy: Privacy
    signal_to_noise: float
    unit: str
    options: tuple[Option, ...]
    curve: tuple[Point, ...]

    @property
    def best(self) -> Option:
        """What `method="auto"` takes; where that is not for the problem, the first of the table."""
        return next((option for option in self.options if option.automatic), self.options[0])

    def rows_for(self, error: float) -> int | None:
        """Return about how many rows the automatic recipe needs for such an error at this budget, or None.

        None is for means, for recipes without a prediction, and for errors that no number of rows reaches.
        """
        error = real("error", error, "rows_for", above=0.0)
        low, high = 1, LARGEST
        while low < high:
            middle = (low + high) // 2
            found = _risk(replace(self.problem, n=middle), self.privacy, self.signal_to_noise)
            if found is None:
                return None
            low, high = (low, middle) if found <= error else (middle + 1, high)
        return None if low == LARGEST else _rounded(self._enough(replace(self.problem, n=low), error))

    def _enough(self, problem: Problem, error: float) -> int:
        """Return about the fewest rows, of these or more, that are not refused; also not with a larger error."""
        rows = _carried(problem, self.privacy)
        enough = replace(problem, n=rows)
        name, spent = _taken(enough, self.privacy)
        found = risk(name, enough, spent, self.signal_to_noise)
        if spent == self.privacy or (found is not None and found <= error):
            return rows
        return _carried(problem, self.privacy, automatic=False)

    def __str__(self) -> str:
        facts = f"n = {self.problem.n}, d = {self.problem.d}, {self.privacy}, signal to noise {self.signal_to_noise:g}"
        delta = self.privacy.delta
        lines = [
            f"{option.recipe}{' with δ = 0' * (option.delta < delta)}: {_words(option.predicted, option.refusal)}"
            for option in self.options
        ]
        curve = [f"ε = {point.epsilon:g}: {_words(point.predicted, point.refusal)}" for point in self.curve]
        return "\n".join([f"{self.problem.loss.name}, {facts}", *lines, *curve, f"({self.unit})"])


def _words(predicted: float | None, refusal: str | None) -> str:
    return refusal or ("no prediction" if predicted is None else f"{predicted:.2g}")


def advise(
    n_rows: int,
    n_features: int,
    loss: Loss | RecordLoss | str = "squared",
    privacy: Privacy | None = None,
    *,
    domain: Domain | None = None,
    sparsity: int | None = None,
    intercept: bool = True,
    signal_to_noise: float = 1.0,
    epsilons: Sequence[float] = EPSILONS,
    scales: Scales | None = None,
) -> Advice:
    """Rank the recipes by the error to expect, from public facts alone.

    Parameters
    ----------
    n_rows, n_features : int
        Public sizes of the data.
    loss : Loss or str, default="squared"
        What is fitted: "mean", "squared" (linear regression), "logistic", "huber", "biweight", "absolute", "hinge", or
        a loss.
    privacy : Privacy or None, default=None
        The budget; None is ε = 1, δ = 1e-6.
    domain : Domain or None, default=None
        Where the coefficients may lie; anywhere by default.
    sparsity : int or None, default=None
        Short for a domain of vectors with so many entries that are not 0.
    intercept : bool, default=True
        Whether an intercept is fitted.
    signal_to_noise : float, default=1.0
        Assumed: variance of the signal ÷ that of the noise, R² ÷ (1 − R²) of the best model. For classes 1 stands for
        log-odds of variance 4.
    epsilons : sequence of float, default=(0.1, …, 8.0)
        Of the curve, with the same δ.
    scales : Scales or None, default=None
        Public centres and scales, as estimators take them: with all of them small budgets go farther.

    Returns
    -------
    Advice
        The table, the curve, and `rows_for(error)`.

    Notes
    -----
    *Accuracy.* Predictions are formulas fitted to synthetic data with usual tails (`benchmarks/prediction.py` says how
    often they are within a factor of three): they do not know yours. A prediction of 1 is that of a model that has
    learned nothing.

    Examples
    --------
    >>> import tailguard as tg
    >>> advice = advise(20_000, 10, "squared", tg.Privacy(1.0, 1e-6), epsilons=(0.5, 1.0))
    >>> advice.best.recipe
    'newton'
    >>> [point.predicted < 0.1 for point in advice.curve]
    [True, True]
    """
    from tailguard.recipes import list_recipes  # it knows every recipe, and this module too

    privacy = Privacy(1.0, 1e-6) if privacy is None else privacy
    if not isinstance(privacy, Privacy):
        raise refuse("privacy", "advise", "a Privacy", type(privacy).__name__)
    if scales is not None and not isinstance(scales, Scales):
        raise refuse("scales", "advise", "Scales or None", type(scales).__name__)
    n, d = integer("n_rows", n_rows, "advise"), integer("n_features", n_features, "advise")
    problem = replace(_problem(n, d, loss, domain, sparsity, intercept), scales=scales)
    ratio = real("signal_to_noise", signal_to_noise, "advise", above=0.0)
    recipes = {recipe.name: recipe for recipe in list_recipes()}
    auto, spent = _taken(problem, privacy)
    found = [
        _option(recipe, problem, spent if name == auto else privacy, ratio, name == auto)
        for name, recipe in recipes.items()
    ]
    options = sorted((option for option in found if option is not None), key=_rank)
    curve = tuple(_point(recipes, problem, Privacy(epsilon, privacy.delta), ratio) for epsilon in epsilons)
    unit = MEAN_UNIT if _task(problem) == "mean" else RISK_UNIT.split(",")[0]
    return Advice(problem, privacy, ratio, unit, tuple(options), curve)


def _point(recipes: Mapping[str, Recipe], problem: Problem, privacy: Privacy, ratio: float) -> Point:
    name, spent = _taken(problem, privacy)
    option = _option(recipes[name], problem, spent, ratio, automatic=True)
    if option is None:  # the automatic choice has no plan for such a problem at all
        return Point(privacy.epsilon, name, None, f"'{name}' is not for this problem", privacy.delta)
    refusal = _automatic_refusal(problem, privacy) if option.rows is not None else None
    words = option.refusal if refusal is None else _sentence(refusal, privacy)
    return Point(privacy.epsilon, name, option.predicted, words, spent.delta)


def _taken(problem: Problem, privacy: Privacy) -> tuple[str, Privacy]:
    """Return the recipe that `method="auto"` takes, and what of the budget it spends: all of it, or all but δ."""
    from tailguard.recipes import planner_by  # it knows every recipe, and this module too

    task = _task(problem)
    try:
        plan = planner_by(partial(choose_recipe, task), task, automatic=True)(problem, privacy)
    except TailguardError:
        return choose_recipe(task, problem, privacy), privacy
    return plan.recipe, plan.privacy


def _problem(n: int, d: int, loss: Any, domain: Domain | None, sparsity: int | None, intercept: bool) -> Problem:
    if isinstance(loss, str):
        loss = LOSSES[choice("loss", loss, "advise", LOSSES)]
    if domain is not None and sparsity is not None:
        raise refuse("sparsity", "advise", "None where a domain is given", sparsity)
    if domain is None:
        domain = WholeSpace(d) if sparsity is None else Sparse(d, sparsity)
    return Problem(loss, domain, n, d, intercept and isinstance(loss, Loss))


def _task(problem: Problem) -> Task:
    return "mean" if isinstance(problem.loss, SquaredDistance) else "regression"


def _option(recipe: Recipe, problem: Problem, privacy: Privacy, ratio: float, automatic: bool) -> Option | None:
    """Return what a recipe makes of the facts, or None where it is for other problems."""
    task = _task(problem)
    if (task, "practical") not in recipe.planners:
        return None
    try:
        plan = recipe.plan(task, problem, privacy)
    except TooFewRowsError as refusal:
        words = _sentence(refusal, privacy)
        return Option(recipe.name, recipe.source, None, words, refusal.rows, automatic, privacy.delta)
    except ParameterError:
        return None
    except TailguardError as refusal:
        return Option(recipe.name, recipe.source, None, str(refusal), None, automatic, privacy.delta)
    predicted = plan.predicted_error if task == "mean" else risk(recipe.name, problem, privacy, ratio)
    return Option(recipe.name, recipe.source, predicted, None, None, automatic, privacy.delta)


def _carried(problem: Problem, privacy: Privacy, *, automatic: bool = True) -> int:
    """Return the number of rows, or how many the automatic recipe needs before it is not refused."""
    refusal = _automatic_refusal(problem, privacy, automatic=automatic)
    return problem.n if refusal is None else max(refusal.rows, problem.n)


def _automatic_refusal(problem: Problem, privacy: Privacy, *, automatic: bool = True) -> TooFewRowsError | None:
    """Return what the automatic choice says where there are too few rows: with more, it may be another recipe.

    Where it is not `automatic`, δ is spent in any case.
    """
    from tailguard.recipes import plan_by  # it knows every recipe, and this module too

    task = _task(problem)
    try:
        plan_by(partial(choose_recipe, task), task, problem, privacy, automatic=automatic)
    except TooFewRowsError as refusal:
        return refusal
    except TailguardError:
        pass
    return None


def _risk(problem: Problem, privacy: Privacy, ratio: float) -> float | None:
    if _task(problem) == "mean":
        return None
    return risk(choose_recipe("regression", problem, privacy), problem, privacy, ratio)


def _sentence(refusal: TooFewRowsError, privacy: Privacy) -> str:
    return f"{refusal.what}: needs about {_rounded(refusal.rows)} rows at ε = {privacy.epsilon:g}"


def _rounded(rows: int) -> int:
    """Return a number of rows with two digits, rounded up."""
    unit = int(10 ** max(len(str(rows)) - 2, 0))
    return -(-rows // unit) * unit


def _rank(option: Option) -> tuple[bool, bool, float, bool, str]:
    error = option.predicted
    return option.refusal is not None, error is None, error or 0.0, not option.automatic, option.recipe
