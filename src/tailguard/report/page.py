"""A release as one self-contained HTML page: no script, no image, no address on the network."""

from collections.abc import Sequence

from tailguard.plans import Release, dumps
from tailguard.report import words
from tailguard.report.drawings import curve, marks
from tailguard.report.shares import shares
from tailguard.report.values import doubt, held, values
from tailguard.solvers.measures import Evaluated

__all__ = ["html"]


def html(
    release: Release,
    *,
    names: Sequence[str] | None = None,
    target: str | None = None,
    classes: Sequence[str] | None = None,
) -> str:
    """Return a report on a release: what was fitted, the guarantee, where the budget went, how to verify.

    Parameters
    ----------
    release : Release
        A finished fit. Nothing else is read, so that the page is as safe to publish as the release.
    names : sequence of str or None, default=None
        Names of the columns. They are public, and escaped.
    target : str or None, default=None
        Name of the target's column.
    classes : sequence of str or None, default=None
        Names of the classes, where there are more than two.

    Examples
    --------
    >>> import numpy as np, tailguard as tg
    >>> model = tg.Mean(epsilon=1.0, random_state=0).fit(np.ones((20_000, 2)))
    >>> "NOT PRIVATE" in html(model.release_, names=["age", "cost"])
    True
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("tailguard.report", ""), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return pages.get_template("page.html").render(_content(release, names, target, classes))


def _content(
    release: Release, names: Sequence[str] | None, target: str | None, classes: Sequence[str] | None
) -> dict[str, object]:
    plan = release.plan
    evaluated = release.estimate if isinstance(release.estimate, Evaluated) else None
    if evaluated is not None:
        names = [measure.name.replace("_", " ") for measure in evaluated.measures]
    task, releases = words.task(plan), sum(step.count for step in plan.steps)
    return {
        "release": release,
        "plan": plan,
        "title": ("Private " if release.private else "Simulated ") + task + (f" of {target}" if target else ""),
        "promise": "What is promised" if release.private else "What the plan promises, and a simulation does not keep",
        "heading": "The mean" if task == "mean" else "The model" if evaluated is None else "The measures",
        "releases": releases,
        "parts": shares(plan),
        "guarantee": words.guarantee(plan.privacy, plan.problem.n, releases),
        "facts": words.public_facts(plan),
        "limits": words.limits(plan),
        "fitted": values(release, names, classes),
        "marks": marks(release),
        "curve": curve(plan),
        "errors": words.ERRORS,
        "held": held(release),
        "doubt": doubt(release),
        "document": dumps(plan),
        "how_made": words.how_made(release),
        "paid_by": words.paid_by(release),
        "not_private": words.NOT_PRIVATE,
        "number": words.number,
        "purpose": words.purpose,
    }
