"""A plan or a release as text: for a terminal with colours, or as a plain string."""

from collections.abc import Sequence
from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tailguard.plans import Plan, Release, digest, verify
from tailguard.report import words
from tailguard.report.shares import Share, shares
from tailguard.report.values import doubt, held, values
from tailguard.solvers.measures import Evaluated

__all__ = ["renderable", "summary"]

_GAP = Text()


def summary(subject: Plan | Release, *, names: Sequence[str] | None = None, width: int = 100) -> str:
    """Return a plan or a release as plain text.

    Parameters
    ----------
    subject : Plan or Release
        What is described. A plan is verified on the way.
    names : sequence of str or None, default=None
        Names of the columns, for the coefficients of a release.
    width : int, default=100
        Characters in a line.

    Examples
    --------
    >>> import tailguard as tg
    >>> plan = tg.Mean(epsilon=1.0, delta=1e-6).plan(n_rows=20_000, n_features=3)
    >>> print(summary(plan).splitlines()[0])
    Plan of a private mean: 20000 rows, 3 columns, recipe centred_clipping (practical parameters)
    """
    file = StringIO()
    console = Console(file=file, width=width, no_color=True, force_terminal=False, legacy_windows=False)
    console.print(renderable(subject, names=names))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def renderable(
    subject: Plan | Release, *, names: Sequence[str] | None = None, classes: Sequence[str] | None = None
) -> RenderableType:
    """Return a plan or a release as something that a Rich console prints; see `summary`."""
    return _release(subject, names, classes) if isinstance(subject, Release) else _plan(subject)


def _plan(plan: Plan) -> RenderableType:
    promise = _promise(plan, verify(plan).epsilon, "Guarantee")
    budget, expected = _budget(shares(plan)), _expected(plan)
    return Group(_title("Plan of a", plan), _GAP, budget, _GAP, *promise, *expected, _digest(digest(plan)))


def _release(release: Release, names: Sequence[str] | None, classes: Sequence[str] | None) -> RenderableType:
    plan = release.plan
    warning = [] if release.private else [Text(words.NOT_PRIVATE, style="bold red"), _GAP]
    label = "Guarantee" if release.private else "What the plan promises, and a simulation does not keep"
    return Group(
        *warning,
        _title("Result of a", plan),
        _GAP,
        _coefficients(release, names, classes),
        *([] if (word := held(release)) is None else [Text(word)]),
        *([] if (word := doubt(release)) is None else [Text(word, style="bold")]),
        _GAP,
        _budget(shares(plan)),
        _GAP,
        *_promise(plan, release.guarantee.epsilon, label),
        Text.assemble(("Noise: ", "bold"), words.how_made(release)),
        *([] if release.receipt is None else [Text.assemble(("Paid by: ", "bold"), words.paid_by(release))]),
        _digest(release.digest),
    )


def _title(start: str, plan: Plan) -> Text:
    problem = plan.problem
    sizes = f"{problem.n} rows, {problem.d} columns, recipe {plan.recipe} ({plan.parameters} parameters)"
    return Text.assemble((f"{start} private {words.task(plan)}", "bold"), words.printable(f": {sizes}"))


def _promise(plan: Plan, recomputed: float, label: str) -> list[RenderableType]:
    bullets = Table.grid(padding=(0, 1))
    for paragraph in words.guarantee(plan.privacy, plan.problem.n, sum(step.count for step in plan.steps)):
        bullets.add_row(" -", Text(paragraph))
    costs = Text.assemble((f"{label}: ", "bold"), f"{plan.privacy}; recomputed ε = {recomputed:.6g}")
    facts = Text.assemble(("Taken as public: ", "bold"), "; ".join(words.public_facts(plan)))
    left = [words.printable(text) for name, text in plan.sources if name == "delta"]
    return [costs, bullets, *(Text.assemble(("Not spent: ", "bold"), text) for text in left), facts]


def _expected(plan: Plan) -> list[RenderableType]:
    if plan.predicted_error is None:
        return []
    unit = dict(plan.sources).get("predicted_error", "")
    return [Text.assemble(("Predicted error: ", "bold"), f"{plan.predicted_error:.2g} ({words.printable(unit)})")]


def _budget(parts: Sequence[Share]) -> Table:
    table = Table("step", "statistic", box=None, pad_edge=False, header_style="bold")
    for heading in ("numbers", "releases", "noise multiplier", "budget"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("for")
    for part in parts:
        low, high = (words.number(multiplier) for multiplier in part.multipliers)
        span = low if low == high else f"{low} to {high}"
        counts = (str(part.dimension), str(part.releases), span, f"{part.share:.1%}")
        table.add_row(Text(words.printable(part.name)), part.statistic, *counts, words.purpose(part.name))
    return table


def _measures(evaluated: Evaluated) -> Table:
    table = Table("measure", box=None, pad_edge=False, header_style="bold")
    for heading in ("value", "standard error", "of it for privacy", "interval"):
        table.add_column(heading, justify="right")
    for measure in evaluated.measures:
        numbers = (measure.value, measure.standard_error, measure.privacy_error)
        span = f"{words.number(measure.low)} to {words.number(measure.high)}"
        table.add_row(measure.name.replace("_", " "), *map(words.number, numbers), span)
    return table


def _coefficients(release: Release, names: Sequence[str] | None, classes: Sequence[str] | None) -> Table:
    if isinstance(release.estimate, Evaluated):
        return _measures(release.estimate)
    fitted = values(release, names, classes)
    table = Table("column", box=None, pad_edge=False, header_style="bold")
    for heading in fitted.headings:
        table.add_column(Text(words.printable(heading)), justify="right")
    for label, cells in fitted.rows:
        table.add_row(Text(words.printable(label)), *cells)
    if fitted.intercept is not None:
        table.add_row(Text("(intercept)", style="italic"), *fitted.intercept)
    return table


def _digest(value: str) -> Text:
    return Text.assemble(("Digest of the plan: ", "bold"), value)
