"""A release as one self-contained HTML page: no script, no image, no address on the network."""

from collections.abc import Sequence

from tailguard.plans import Plan, Release, digest, dumps, verify
from tailguard.report import words
from tailguard.report.drawings import curve, marks
from tailguard.report.shares import shares
from tailguard.report.values import doubt, held, values
from tailguard.solvers.measures import Evaluated

__all__ = ["html"]


def html(
    subject: Plan | Release,
    *,
    names: Sequence[str] | None = None,
    target: str | None = None,
    classes: Sequence[str] | None = None,
) -> str:
    """Return a report on a release, or on a plan: what is fitted, the guarantee, where the budget goes, how to verify.

    Parameters
    ----------
    subject : Plan or Release
        A finished fit, or what it would do. Nothing else is read, so that the page is as safe to publish. A plan is
        verified on the way.
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
    return pages.get_template("page.html").render(_content(subject, names, target, classes))


def _content(
    subject: Plan | Release, names: Sequence[str] | None, target: str | None, classes: Sequence[str] | None
) -> dict[str, object]:
    release = subject if isinstance(subject, Release) else None
    plan = subject if isinstance(subject, Plan) else subject.plan
    releases = sum(step.count for step in plan.steps)
    common = {
        "plan": plan,
        "digest": digest(plan),
        "releases": releases,
        "parts": shares(plan),
        "guarantee": words.guarantee(plan.privacy, plan.problem.n, releases),
        "facts": words.public_facts(plan),
        "limits": words.limits(plan),
        "curve": curve(plan),
        "document": dumps(plan),
        "number": words.number,
        "purpose": words.purpose,
        "of": words.task(plan) + (f" of {target}" if target else ""),
    }
    return common | (_planned(plan) if release is None else _released(release, names, classes))


def _planned(plan: Plan) -> dict[str, object]:
    """Return what a page on a plan says in the places of a release."""
    return {"release": None, "recomputed": verify(plan).epsilon, "promise": "What is promised"}


def _released(release: Release, names: Sequence[str] | None, classes: Sequence[str] | None) -> dict[str, object]:
    evaluated = release.estimate if isinstance(release.estimate, Evaluated) else None
    if evaluated is not None:
        names = [measure.name.replace("_", " ") for measure in evaluated.measures]
    mean = words.task(release.plan) == "mean"
    return {
        "release": release,
        "recomputed": release.guarantee.epsilon,
        "promise": "What is promised" if release.private else "What the plan promises, and a simulation does not keep",
        "heading": "The mean" if mean else "The model" if evaluated is None else "The measures",
        "fitted": values(release, names, classes),
        "marks": marks(release),
        "errors": words.ERRORS,
        "held": held(release),
        "doubt": doubt(release),
        "how_made": words.how_made(release),
        "paid_by": words.paid_by(release),
        "not_private": words.NOT_PRIVATE,
    }
