"""A session: a total budget for everything that is ever fitted to one data set."""

import math
import os
import uuid
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from tailguard._validate import integer, real, refuse
from tailguard.errors import BudgetError, LedgerError, ParameterError
from tailguard.ledger import file
from tailguard.ledger.charge import Charge
from tailguard.ledger.statement import Statement
from tailguard.plans.codec import digest
from tailguard.plans.plan import Plan
from tailguard.plans.release import Receipt
from tailguard.privacy.budget import Privacy
from tailguard.privacy.filter import Cost, Filter

__all__ = ["Session", "SessionLike", "now", "session_of"]


class Session:
    """A total budget for all fits to one data set, kept in a file.

    Pass it, or the path of its file, as `session` to estimators and functions. Every fit is charged before it reads a
    record; one that the budget does not carry is refused.

    Parameters
    ----------
    path : str or path
        The ledger, an SQLite file on a local disk. It is made if it does not exist and `epsilon` is given.
    epsilon, delta : float or None, default=None
        The total budget, for replacing one record; δ = 0, the default of a new ledger, is pure. A ledger keeps the
        budget that it was made with: for an existing one they may be left out, and must fit if they are given.
    n_rows : int or None, default=None
        Public number of rows of the data set. Fits to any other number of rows are refused. Where nobody says it, the
        first fit does.
    slack : float or None, default=None
        Part of δ set aside for costs with a δ of their own, which other tools may have; 0 in a new ledger.

    Notes
    -----
    *Guarantee.* Everything that is released under the session is together (ε, δ)-differentially private, however each
    fit was chosen (`tailguard.privacy.Filter`). A crash can waste budget; it cannot hide spending. A damaged file is
    refused, never reset. Whoever deletes or edits the file on purpose cannot be stopped by it.

    A session may be pickled, cloned and used by many threads, processes and programs at once. It holds no open file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, tailguard as tg
    >>> folder = tempfile.TemporaryDirectory()
    >>> session = tg.Session(folder.name + "/ledger.db", epsilon=1.0, delta=1e-6)
    >>> X = np.random.default_rng(0).standard_t(3, size=(20_000, 2))
    >>> model = tg.Mean(epsilon=0.5, session=session).fit(X)
    >>> model = tg.Mean(epsilon=0.8, session=session).fit(X)
    Traceback (most recent call last):
        ...
    tailguard.errors.BudgetError: This costs ρ = 0.0185, and the session has ρ = 0.0167 of 0.0244 left, enough for a \
Gaussian fit with ε = 0.75 at δ = 1e-06.
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: "str | os.PathLike[str]",
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        n_rows: int | None = None,
        slack: float | None = None,
    ) -> None:
        self.path = _checked_path(path)
        if epsilon is not None and not os.path.exists(self.path):
            self._create(Privacy(epsilon, 0.0 if delta is None else delta), n_rows, 0.0 if slack is None else slack)
        self._identity: str | None = None
        found = self.statement()
        self._identity = found.identity
        asked = {"epsilon": epsilon, "delta": delta, "slack": slack, "n_rows": n_rows}
        there = {**asdict(found.privacy), "slack": found.slack, "n_rows": found.n_rows}
        for name, value in asked.items():
            if value is not None and value != there[name]:
                raise refuse(name, "Session", f"{there[name]!r}, as in the ledger {str(self.path)!r}", value)

    def _create(self, privacy: Privacy, n_rows: int | None, slack: float) -> None:
        rows = None if n_rows is None else integer("n_rows", n_rows, "Session")
        Filter(privacy, slack)
        terms = {**asdict(privacy), "slack": float(slack), "n_rows": rows}
        try:
            file.create(self.path, {**terms, "identity": uuid.uuid4().hex, "created": now()})
        except FileExistsError:
            return  # another program was faster, and what it made is looked at like any other ledger

    def statement(self) -> Statement:
        """Return the budget, all charges and what is left; every line is checked."""
        with file.transaction(self.path) as connection:
            found = _statement(*file.read(connection, self.path))
        self._check_identity(found)
        return found

    def check(self) -> Statement:
        """Return the statement, after recomputing the cost of every charge from its events."""
        found = self.statement()
        for charge in found.charges:
            if not charge.recomputed(found.privacy.delta):
                raise LedgerError(f"The ledger {str(self.path)!r} charged too little for line {charge.number}.")
        return found

    def charge(self, plan: Plan) -> Receipt:
        """Pay for a plan, or refuse it with a `BudgetError`; `tailguard.run.run` does it before it reads a record.

        Parameters
        ----------
        plan : Plan
            What will be done.

        Returns
        -------
        Receipt
            The line of the ledger; it is on the disk.
        """
        return self._pay(lambda found: _line(found, plan))

    def refusal(self, plan: Plan) -> str | None:
        """Return the sentence with which a plan would be refused now, None if it would be paid; nothing is charged."""
        found = self.statement()
        try:
            _admit(found, _line(found, plan))
        except BudgetError as error:
            return str(error)
        return None

    def charge_other(self, privacy: Privacy, note: str) -> Receipt:
        """Pay for something that was done, or will be done, by other means to the same records.

        Parameters
        ----------
        privacy : Privacy
            What it costs, for replacing one record. With δ > 0 the session needs slack.
        note : str
            What it was.
        """
        if not isinstance(privacy, Privacy) or not isinstance(note, str):
            raise ParameterError("A charge by hand must have a Privacy and a note that is a string.")

        def line(found: Statement) -> Charge:
            cost = Cost.elsewhere(privacy, found.privacy.delta)
            return Charge(len(found.charges) + 1, now(), note, None, None, None, None, **asdict(cost))

        return self._pay(line)

    def _pay(self, line: Callable[[Statement], Charge]) -> Receipt:
        with file.transaction(self.path) as connection:
            found = _statement(*file.read(connection, self.path))
            self._check_identity(found)
            charge = _admit(found, line(found))
            file.append(connection, charge)
        return Receipt(found.identity, charge.number, found.privacy)

    def _check_identity(self, found: Statement) -> None:
        if self._identity not in (None, found.identity):
            raise LedgerError(f"The ledger {str(self.path)!r} was replaced by another one.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Session) and (self.path, self._identity) == (other.path, other._identity)

    def __hash__(self) -> int:
        return hash((self.path, self._identity))

    def __repr__(self) -> str:
        return f"Session({str(self.path)!r})"


SessionLike: TypeAlias = Session | str | os.PathLike[str]
"""A session, or the path of its ledger."""


def session_of(owner: str, session: SessionLike | None) -> Session | None:
    """Return the session that a parameter names, if any; a path must lead to an existing ledger."""
    if session is None or isinstance(session, Session):
        return session
    if isinstance(session, str | os.PathLike):
        return Session(session)
    raise refuse("session", owner, "a Session, the path of a ledger or None", type(session).__name__)


def _checked_path(path: object) -> Path:
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    if not isinstance(text, str) or not text or text.startswith(":") or "\0" in text:
        raise refuse("path", "Session", "the path of a file", path)
    return Path(os.path.abspath(text))  # workers may have another folder


def _statement(terms: dict[str, object], charges: tuple[Charge, ...]) -> Statement:
    try:
        privacy = Privacy(terms["epsilon"], terms["delta"])  # type: ignore[arg-type]
        slack = real("slack", terms["slack"], "a ledger")
        told = terms["n_rows"]
        n_rows = next((charge.n for charge in charges if charge.n is not None), None) if told is None else told
        return Statement(str(terms["identity"]), str(terms["created"]), privacy, slack, n_rows, charges)  # type: ignore[arg-type]
    except (KeyError, ValueError):
        raise LedgerError("The ledger is damaged: its budget cannot be read.") from None


def _line(found: Statement, plan: Plan) -> Charge:
    """Return the next charge of a ledger, for a plan on its data set."""
    if found.n_rows not in (None, plan.problem.n):
        raise BudgetError(
            f"The session is for a data set of {found.n_rows} rows, and this plan is for {plan.problem.n}: a part of "
            "the rows needs a session of its own, and to choose or judge models there are tg.select and tg.evaluate."
        )
    cost = Cost.of(plan.event, found.privacy.delta)
    return Charge.for_plan(len(found.charges) + 1, now(), plan, digest(plan), cost)


def _admit(found: Statement, charge: Charge) -> Charge:
    if not found.filter.admits(found.costs, charge.cost):
        raise BudgetError(_refusal(found, charge.cost))
    return charge


def _refusal(found: Statement, cost: Cost) -> str:
    """Return one sentence: what was asked, what is left."""
    pure = found.privacy.pure
    asked = cost.epsilon if pure else cost.rho
    if pure and math.isinf(asked):
        return f"The session's budget is pure ({found.privacy}), and this needs δ > 0."
    if not pure and cost.delta > found.slack:
        return (
            f"This has δ = {cost.delta:g} of its own, and the session has set aside {found.slack:g} for that (slack)."
        )
    unit, left = found.unit, f"{found.left:.3g} of {found.limit:.3g}"
    sentence = f"This costs {unit} = {asked:.3g}, and the session has {unit} = {left} left"
    if pure:
        return sentence + "."
    nearest = math.floor(100.0 * found.next_epsilon()) / 100.0
    return sentence + f", enough for a Gaussian fit with ε = {nearest:g} at δ = {found.privacy.delta:g}."


def now() -> str:
    """Return the time, UTC, to the minute: a ledger may be published, and how long fits take is nobody's business."""
    return datetime.now(UTC).isoformat(timespec="minutes")
