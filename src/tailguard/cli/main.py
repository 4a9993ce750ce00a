"""The entry point: every outcome is an exit status, every error one sentence without a data value."""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from tailguard import __version__
from tailguard.cli.advise import advise
from tailguard.cli.audit import audit
from tailguard.cli.bench import bench
from tailguard.cli.certify import certify
from tailguard.cli.console import complain
from tailguard.cli.demo import demo
from tailguard.cli.evaluate import evaluate
from tailguard.cli.fit import fit
from tailguard.cli.ledger import ledger
from tailguard.cli.mean import mean
from tailguard.cli.plan import plan
from tailguard.cli.predict import predict
from tailguard.cli.reproduce import reproduce
from tailguard.cli.verify import verify
from tailguard.errors import ParameterError, TailguardError

__all__ = ["app", "main"]

FAILED, WRONG_USE = 1, 2
INTERRUPTED = 130  # what Typer makes of Ctrl-C

app = typer.Typer(
    name="tailguard",
    help="Differentially private models for heavy-tailed data, without asking anyone for a bound on the data.",
    epilog="Start with: tailguard demo",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"tailguard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Take the options that stand before a verb."""


for verb in (demo, advise, plan, verify, certify, fit, mean, predict, evaluate, audit, reproduce, bench):
    app.command()(verb)
app.add_typer(ledger, name="ledger")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        What stands behind `tailguard`; None takes it from the shell.

    Returns
    -------
    int
        0: done. 1: the job failed. 2: wrong use. An error is one sentence on standard error.
    """
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        status = int(app(args=words, prog_name="tailguard", standalone_mode=False) or 0)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough; a last flush must not complain either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        sentence, status = _judge(error)
        complain(sentence)
    if status == INTERRUPTED:
        complain("Interrupted.")
        return FAILED
    return status


def _judge(error: Exception) -> tuple[str, int]:
    """Return what to say about an error, and the exit status."""
    if isinstance(error, TailguardError):
        return str(error), WRONG_USE if isinstance(error, ParameterError) else FAILED
    if isinstance(error, typer.Abort):
        return "Stopped.", FAILED
    if hasattr(error, "format_message"):  # Typer's own errors about arguments; their class has moved between versions
        return str(error.format_message()), int(getattr(error, "exit_code", WRONG_USE))
    # The text of any other exception may hold a data value, so only its type and place are shown.
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"tailguard failed by a mistake of its own ({type(error).__name__} in {place.name}); please report it.",
        FAILED,
    )
