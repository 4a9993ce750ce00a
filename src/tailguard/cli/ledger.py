"""`tailguard ledger`: the total budget of a data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tailguard.cli.console import check_writable, json_text, say, say_json, working, write
from tailguard.cli.options import Json
from tailguard.errors import LedgerError, ParameterError

if TYPE_CHECKING:
    from tailguard.ledger import Session, Statement

__all__ = ["ledger"]

ledger = typer.Typer(
    help="Keep a total budget across fits: make a ledger, show it, charge it by hand, export it.",
    epilog="Example: tailguard ledger create ledger.db --epsilon 1 --delta 1e-6; tailguard ledger show ledger.db",
)

File = Annotated[Path, typer.Argument(help="The ledger.", show_default=False)]


@ledger.command()
def create(
    file: Annotated[Path, typer.Argument(help="File to make.", show_default=False)],
    epsilon: Annotated[float, typer.Option(help="ε of the total budget, above 0.", show_default=False)],
    delta: Annotated[float, typer.Option(help="δ of the total budget, below 1; 0 is pure.")] = 0.0,
    rows: Annotated[int | None, typer.Option(help="Public number of rows; the first fit says it by default.")] = None,
    slack: Annotated[float, typer.Option(help="Part of δ for other tools' costs with a δ of their own.")] = 0.0,
    json: Json = False,
) -> None:
    """Make a ledger with a total budget. The budget can never be changed afterwards.

    Example: tailguard ledger create ledger.db --epsilon 1 --delta 1e-6 --rows 20000
    """
    with working("Making the ledger", json):
        from tailguard.ledger import Session

        if file.exists():
            raise LedgerError(f"There is a file {str(file)!r} already.")
        session = Session(file, epsilon=epsilon, delta=delta, n_rows=rows, slack=slack)
    _show(session, json)


@ledger.command()
def show(file: File, json: Json = False) -> None:
    """Show what was spent, on what, and what is left; every line is checked.

    Example: tailguard ledger show ledger.db
    """
    _show(_session(file, json), json)


@ledger.command()
def charge(
    file: File,
    plan: Annotated[Path | None, typer.Option(help="Pay for a plan from 'plan --json'.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Pay for something else: its ε.")] = None,
    delta: Annotated[float, typer.Option(help="Its δ; above 0 the ledger needs slack.")] = 0.0,
    note: Annotated[str | None, typer.Option(help="What that was.")] = None,
    json: Json = False,
) -> None:
    """Pay for what is done to the same rows by other means, before it is done.

    Example: tailguard ledger charge ledger.db --epsilon 0.1 --note "histogram of ages"
    """
    session = _session(file, json)
    if plan is not None and epsilon is None and note is None:
        from tailguard.cli.model_file import read_plan
        from tailguard.plans import verify

        promise = read_plan(plan)
        verify(promise)
        receipt = session.charge(promise)
    elif plan is None and epsilon is not None and note:
        from tailguard.privacy import Privacy

        receipt = session.charge_other(Privacy(epsilon, delta), note)
    else:
        raise ParameterError("A charge is either for --plan, or it has --epsilon and a --note.")
    if json:
        say_json({"ledger": receipt.ledger, "number": receipt.number})
    else:
        say(f"Charged as line {receipt.number}.", _left(session.statement()))


@ledger.command()
def export(
    file: File,
    output: Annotated[Path | None, typer.Option(help="File to write; standard output by default.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="A table, without the events; JSON by default.")] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON, the default.")] = False,
) -> None:
    """Write the whole ledger as JSON, or its lines as CSV. It holds nothing from the data.

    Example: tailguard ledger export ledger.db --output ledger.json
    """
    if csv and json:
        raise ParameterError("An export is either --csv or --json.")
    check_writable(output)
    statement = _session(file, json).check()
    text = _table(statement) if csv else json_text(statement.document())
    if output is None:
        typer.echo(text, nl=False)
    else:
        write(output, text)


def _session(file: Path, json: bool) -> "Session":
    with working("Reading the ledger", json):
        from tailguard.ledger import Session

        return Session(file)


def _show(session: "Session", json: bool) -> None:
    statement = session.check()
    if json:
        document = statement.document()
        document["charges"] = [{k: v for k, v in line.items() if k != "event"} for line in document["charges"]]
        say_json(document)
        return
    from rich.table import Table

    from tailguard.report.words import printable

    table = Table("line", "time", "what", "rows", box=None, pad_edge=False, header_style="bold")
    table.add_column(statement.unit, justify="right")
    for line in statement.charges:
        cost = line.epsilon if statement.privacy.pure else line.rho
        rows = "" if line.n is None else str(line.n)
        table.add_row(str(line.number), line.time[:16], printable(line.label), rows, f"{cost:.4g}")
    say(f"Ledger {statement.identity}, total budget {statement.privacy}", *([table] if statement.charges else []))
    say(f"Spent: ε = {statement.spent:.4g} at δ = {statement.privacy.delta:g}.", _left(statement))


def _left(statement: "Statement") -> str:
    unit, more = statement.unit, statement.next_epsilon()
    left = f"Left: {unit} = {statement.left:.4g} of {statement.limit:.4g}"
    return (
        f"{left}, enough for a fit with {'pure ε' if statement.privacy.pure else 'Gaussian noise and ε'} = {more:.3g}."
    )


def _table(statement: "Statement") -> str:
    import csv
    from io import StringIO

    names = ("number", "time", "label", "digest", "n", "d", "rho", "epsilon", "delta", "alone")
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(names)
    table.writerows([_cell(getattr(line, name)) for name in names] for line in statement.charges)
    return text.getvalue()


def _cell(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
