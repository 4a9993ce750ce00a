"""The only object that leaves a run: safe to publish, because all of it was released or public."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailguard.errors import LedgerError
from tailguard.plans.codec import digest
from tailguard.plans.plan import Plan
from tailguard.privacy.budget import Privacy
from tailguard.privacy.events import Event
from tailguard.solvers.base import Estimate, Released

__all__ = ["Entry", "Ledger", "Receipt", "Release"]


@dataclass(frozen=True)
class Entry:
    """One charge: the step, the block it met, the event its mechanism reports, whether it was passed over."""

    step: str
    block: int
    event: Event
    skipped: bool = False


@dataclass(frozen=True)
class Ledger:
    """What the mechanisms say they did, in order."""

    entries: tuple[Entry, ...] = ()

    def check(self, plan: Plan) -> None:
        """Raise `LedgerError` unless exactly the planned events were performed, in the planned order and blocks."""
        planned = [
            (step.name, step.block(repetition), step.release_event)
            for step in plan.steps
            for repetition in range(step.count)
        ]
        done = [(entry.step, entry.block, entry.event) for entry in self.entries]
        if done != planned:
            raise LedgerError("What was performed is not what was planned; nothing is returned.")


@dataclass(frozen=True)
class Receipt:
    """Says which line of which session's ledger paid for a release.

    Attributes
    ----------
    ledger : str
        Random name of the ledger, made with it.
    number : int
        The line, 1 for the first.
    privacy : Privacy
        The total budget of that ledger, for all its lines together.
    """

    ledger: str
    number: int
    privacy: Privacy


@dataclass(frozen=True, eq=False)
class Release:
    """A finished fit.

    Attributes
    ----------
    estimate : Estimate
        Coefficients, intercept and the range of predictions, post-processed from the released values.
    released : tuple of Released
        Every released value, step by step.
    plan : Plan
        What was promised.
    ledger : Ledger
        What was done; equal to the plan, or this object would not exist.
    guarantee : Privacy
        The plan's cost, recomputed.
    numerics : str
        How the noise was made.
    private : bool
        False for a seeded simulation, which protects nobody.
    versions : tuple of (str, str)
        Versions of the packages that did the work.
    receipt : Receipt or None
        Which session paid for it; None without one.
    """

    estimate: Estimate
    released: tuple[Released, ...]
    plan: Plan
    ledger: Ledger
    guarantee: Privacy
    numerics: str
    private: bool
    versions: tuple[tuple[str, str], ...]
    receipt: Receipt | None = None

    @property
    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest(self.plan)

    def __str__(self) -> str:
        """Return what was promised and how; `tailguard.report.summary` shows the model too."""
        facts = f"{self.plan.problem.loss.name} loss, {self.plan.problem.n} rows, {self.guarantee}"
        return f"Release of {self.plan.recipe}: {facts}\n  {len(self.released)} noisy releases, {self.numerics}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        printer.text(str(self))  # what a notebook shows

    def certificate(self, *, issued: str | None = None, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return what is promised about this release, as JSON values that anybody can recompute without data.

        Parameters
        ----------
        issued : str or None, default=None
            When and by whom, if you wish to say it.
        names : mapping or None, default=None
            What the result is published with and a release does not know: names of columns, target and classes, as JSON
            values. They are then part of the result that the certificate is for.

        Returns
        -------
        dict
            For `json.dumps`. `tailguard.plans.check_certificate` and `tailguard verify` recompute it. The certificate
            of a simulation says NOT PRIVATE.

        Examples
        --------
        >>> import numpy as np, tailguard as tg
        >>> release = tg.Mean(epsilon=1.0, delta=1e-6).fit(np.ones((20_000, 2))).release_
        >>> release.certificate()["statement"]
        '(ε = 1, δ = 1e-06)-differential privacy for replacing any one of 20000 rows by any other row.'
        """
        from tailguard.plans.certificate import certify  # which needs this class

        return certify(self, issued, names)
