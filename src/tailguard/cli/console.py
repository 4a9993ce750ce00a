"""Where words go: results to standard output, everything else to standard error."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailguard.errors import DataError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "check_readable",
    "check_writable",
    "complain",
    "json_text",
    "not_writable",
    "note",
    "progress",
    "say",
    "say_json",
    "warn",
    "working",
    "write",
]


def say(*parts: "RenderableType") -> None:
    """Print results, with colours and the width of the terminal where there is one."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 120)
    with console.capture() as shown:
        for part in parts:
            console.print(part)
    sys.stdout.write("\n".join(line.rstrip() for line in shown.get().splitlines()) + "\n")


def say_json(document: Any) -> None:
    """Print a document for machines."""
    sys.stdout.write(json_text(document))


def json_text(document: Any) -> str:
    """Return a document for machines."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def complain(sentence: str) -> None:
    """Print one sentence about what went wrong."""
    sys.stderr.write(f"tailguard: {' '.join(sentence.split()).rstrip('.')}.\n")


def note(sentence: str) -> None:
    """Print a sentence beside the results."""
    sys.stderr.write(sentence + "\n")


def warn(sentence: str) -> None:
    """Print a warning that cannot be overlooked."""
    from rich.console import Console

    Console(stderr=True, highlight=False, markup=False).print(sentence, style="bold white on red", soft_wrap=True)


@contextmanager
def working(what: str, quiet: bool = False) -> Iterator[None]:
    """Show on a terminal that something is being done; nothing beside results for machines."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def progress(what: str, total: int, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how much of something long is done; yields what to tell about every part of it."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=total)
        yield lambda part: bars.advance(bar, part)


def check_readable(path: Path) -> None:
    """Refuse what is no file; one that may not be read was refused with the words of the command."""
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder, not a file.")
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}.")


def check_writable(*paths: Path | None) -> None:
    """Refuse an output file that cannot be written before anything is spent on its content."""
    for path in paths:
        if path is None:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise not_writable(path) from None
        if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
            raise not_writable(path)


def not_writable(path: Path) -> DataError:
    """Return the error about a file that cannot be written."""
    return DataError(f"The file {str(path)!r} cannot be written.")


def write(path: Path, text: str) -> None:
    """Write a result file."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        raise not_writable(path) from None
