"""The promise in plain words. Every sentence is made from public numbers."""

import math
from collections.abc import Iterable, Sequence

from tailguard._validate import refuse
from tailguard.domains.sparse import Sparse
from tailguard.plans import Plan, Release, Scales
from tailguard.privacy.budget import Privacy

__all__ = [
    "ERRORS",
    "NOT_PRIVATE",
    "guarantee",
    "how_made",
    "labels",
    "limits",
    "number",
    "paid_by",
    "printable",
    "public_facts",
    "purpose",
    "task",
]

SHOWN = 6
"""So many numbers of a vector are printed."""

NOT_PRIVATE = "SIMULATION, NOT PRIVATE: the noise comes from a seed and can be subtracted again. Do not publish."

ERRORS = (
    "Standard errors and intervals count the sampling error and the noise of privacy together, for one number at a "
    "time, from released numbers alone. A bias that clipping leaves under skewed noise is not in them."
)

_TASKS = {
    "squared": "linear regression",
    "logistic": "logistic regression",
    "multinomial": "multinomial logistic regression",
    "squared distance": "mean",
    "huber": "robust regression (Huber's loss)",
    "biweight": "robust regression (Tukey's biweight)",
    "absolute": "regression of the median (least absolute deviations)",
    "hinge": "linear support vector machine",
}

_PURPOSES = {
    "target centre": "median of the target",
    "target scale": "spread of the target",
    "feature centre": "median of each column",
    "feature scale": "spread of each column",
    "class shares": "how many of each class there are",
    "row level": "how long rows are",
    "pooled scale": "a common spread for columns without one of their own",
    "clip level": "where to clip rows",
    "gram": "how columns go together",
    "gradient level": "where to clip gradients",
    "leverage level": "where to shorten whitened rows",
    "prediction level": "which predictions to weigh down; a step of the fit where nothing is skewed",
    "calibration level": "where to clip residuals of the calibration; a step of the fit where nothing is skewed",
    "tilt": "whether residuals are skewed",
    "calibration": "a common factor of the slopes and the intercept; more steps of the fit where nothing is skewed",
    "gradient": "the steps of the fit",
    "residual level": "where to clip residuals",
    "intercept": "the final intercept",
    "mean": "the mean itself",
    "mean square": "how far the mean may be off",
    "bread": "how far the model may be off: curvature",
    "meat": "how far the model may be off: sampling error",
    "wide gradient": "how far the model may be off: what tight levels took; curvature where nothing is skewed",
    "slope level": "how large slopes are",
    "step length": "how far a step may go",
    "pick level": "how large slopes are, for the picks",
    "picks": "the columns that are kept",
    "choice": "the choice of the final model",
    "common centre": "one median for all columns",
    "common scale": "one spread for all columns",
    "leading columns": "which columns are very large in some rows",
    "rare rows": "how large numbers are in columns that are mostly 0",
    "row length": "where to shorten rows for the means",
    "feature mean": "mean of each column",
    "square length": "where to shorten squares for the variances",
    "feature variance": "variance of each column",
    "residual scale": "how large residuals are",
    "direction scale": "how far a step may go",
    "net": "a point of a net, the better the nearer to a minimiser",
    "localisation": "where a phase looks for its answer",
    "solution": "the answer of a phase",
    "offset": "how many of each class there are",
    "rough fit": "a first fit, to see how large residuals are",
    "fit": "the fit itself",
    "vertex": "the steps of the fit, each towards a corner",
    "way": "how far to go in the end",
    "way level": "how much a row may count in that",
    "target spread": "how far targets are from their median",
    "target mean": "mean of the target",
    "error level": "how large an error may count",
    "errors": "the sums of errors",
    "error spread": "how much errors vary",
    "median error": "the median error and its interval",
    "score centre": "median of the scores",
    "score scale": "spread of the scores",
    "scores": "how scores of both classes are spread",
    "choice level": "how much a row may count in the choice",
    "usual error": "how large errors usually are",
    "peeling": "the largest coefficients, by number and value",
}


def task(plan: Plan) -> str:
    """Return what is fitted, in words."""
    name = plan.problem.loss.name
    model = _TASKS.get(name, f"model with {name} loss")
    return f"{plan.recipe} of a {model}" if plan.recipe in ("evaluation", "selection") else model


def purpose(step: str) -> str:
    """Return what a step is for, or nothing where its name must speak for itself.

    Steps of several candidates are numbered: "2: gradient".
    """
    return _PURPOSES.get(step.split(": ", 1)[-1], "")


def guarantee(privacy: Privacy, n: int, releases: int) -> tuple[str, ...]:
    """Return the guarantee in plain words, one paragraph an idea."""
    odds = math.exp(min(privacy.epsilon, 700.0))
    slip = "" if privacy.pure else f", plus δ = {privacy.delta:.3g}"
    # Any test between two neighbours has error rates a, b with e^ε·a + b ≥ 1 − δ and a + e^ε·b ≥ 1 − δ.
    right = (odds + privacy.delta) / (1.0 + odds)
    cost = "kε" if privacy.pure else "kε, with a δ that grows even faster"
    return (
        f"Replace any one of the {n} rows by any other row: the probability of every set of results becomes at most "
        f"e^ε = {odds:.4g} times as large{slip}.",
        "An attacker who knows all other rows and must say which of two rows was in the data is right with "
        f"probability at most {math.ceil(1000.0 * right) / 10.0:g} %; guessing gives 50 %.",
        "The promise is for a row, not for a person: k rows of one person cost " + cost + ".",
        f"It covers all {releases} noisy releases together. The number of rows n = {n} is public and published.",
        "It holds for any values whatsoever, extreme, missing or infinite; assumptions on tails decide accuracy alone.",
    )


def limits(plan: Plan) -> tuple[str, ...]:
    """Return what the plan cannot promise, in plain words."""
    exact = "an answer within a given distance of the truth"
    found = [
        f"Accuracy: the noise is known, but no method can promise {exact} for data that nobody may look at. What rows "
        "beyond the clip levels would have added is missing from the answer.",
        "What was done outside the plan: scaling, imputing or choosing columns with these data, fits that were thrown "
        "away, and scores on exact data cost privacy that is not counted here.",
        "Other uses of the same rows: their costs add to this one.",
        "Running times, which are not protected, and whoever can see the computer's memory.",
        "That nothing is learned about a person: what holds for people like them, the model is meant to show.",
    ]
    if plan.problem.loss.name != "squared distance":
        found.append("Causes: a coefficient describes how the target goes with a column, not what a change would do.")
    return tuple(found)


def public_facts(plan: Plan) -> tuple[str, ...]:
    """Return what the plan takes as public knowledge, which must not have been looked up in the data."""
    problem, moment = plan.problem, plan.problem.moment
    facts = [f"number of rows, {problem.n}", f"number of columns, {problem.d}", "names of the columns"]
    if problem.loss.name in ("logistic", "hinge"):
        facts.append("the two classes")
    if isinstance(problem.domain, Sparse):
        facts.append(f"at most {problem.domain.sparsity} columns in the model")
    bound = problem.domain.norm_bound("l2")
    if math.isfinite(bound):
        facts.append(f"coefficients of length at most {number(bound)}")
    if moment is not None:
        size = "an unknown bound" if moment.bound is None else f"bound {number(moment.bound)}"
        facts.append(f"moments of order {number(moment.order)} with {size}")
    return (*facts, *_public_units(problem.scales))


def _public_units(scales: Scales | None) -> list[str]:
    """Return the centres and scales that the plan was given, a few of them where they are many."""
    if scales is None:
        return []
    columns = {"centres of the columns": scales.centre, "scales of the columns": scales.scale}
    numbers = {"centre of the target": scales.target_centre, "scale of the target": scales.target}
    several = [f"{name} ({_some(values)})" for name, values in columns.items() if values is not None]
    return [*several, *(f"{name} ({number(value)})" for name, value in numbers.items() if value is not None)]


def _some(values: Iterable[float]) -> str:
    """Return the first numbers of a vector."""
    shown = [number(value) for value in values]
    return ", ".join(shown[:SHOWN]) + (", …" if len(shown) > SHOWN else "")


def how_made(release: Release) -> str:
    """Return how the noise was made and by which versions."""
    return f"{release.numerics} ({', '.join(f'{name} {version}' for name, version in release.versions)})"


def paid_by(release: Release) -> str:
    """Return which session paid, with its total budget; nothing where there was none."""
    paid = release.receipt
    return "" if paid is None else f"line {paid.number} of ledger {paid.ledger}, total budget {paid.privacy}"


def labels(names: Sequence[str] | None, count: int) -> list[str]:
    """Return the names of the columns, or numbered ones."""
    if names is None:
        return [f"column {j}" for j in range(count)]
    if len(names) != count:
        raise refuse("names", "a report", f"{count} names of columns", len(names))
    return list(names)


def printable(text: str) -> str:
    """Return a name from a file without characters that could steer a terminal."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def number(value: float) -> str:
    """Return a number with four digits."""
    return f"{value:.4g}"
