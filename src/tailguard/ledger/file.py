"""The ledger's SQLite file: complete from its first moment, one writer at a time, never reset.

A connection lives for one operation, so that threads, forks and pickles share nothing. The file is opened through
SQLite alone: closing another handle of it in this process would drop the locks of all its connections (POSIX).
"""

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from tailguard.errors import LedgerError
from tailguard.ledger.charge import Charge, link

__all__ = ["append", "create", "read", "transaction"]

APPLICATION = 0x7461_696C
"""Marks the file as ours, in SQLite's own header: "tail"."""
SCHEMA = 1
PATIENCE = 60.0
"""Seconds to wait for another writer; a charge takes milliseconds."""

_TABLES = """
CREATE TABLE terms (body TEXT NOT NULL);
CREATE TABLE charges (number INTEGER PRIMARY KEY, body TEXT NOT NULL, link TEXT NOT NULL);
CREATE TABLE head (count INTEGER NOT NULL, link TEXT NOT NULL);
"""
_REMAINS = ("-wal", "-shm", "-journal")


def create(path: Path, terms: dict[str, object]) -> None:
    """Make a ledger. The file appears under its name only when it is complete, and replaces nothing.

    Raises
    ------
    FileExistsError
        If there is a file of that name, perhaps made by another program a moment ago.
    """
    if os.path.exists(path):  # unlike a Path, it takes a folder that may not be read for one without the file
        raise FileExistsError
    for remains in _REMAINS:
        if os.path.exists(f"{path}{remains}"):
            raise LedgerError(
                f"There is no ledger {str(path)!r}, but {path.name + remains!r} is left of one: restore it."
            )
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
            draft = Path(folder) / "ledger"
            _write_new(draft, json.dumps(terms, sort_keys=True, separators=(",", ":"), allow_nan=False))
            os.link(draft, path)  # unlike a renaming, it fails where there is a file already
            _keep_name(path.parent)
    except FileExistsError:
        raise
    except (OSError, sqlite3.Error):
        raise LedgerError(f"The ledger {str(path)!r} cannot be made there.") from None


def _write_new(path: Path, terms: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise LedgerError("The ledger's folder does not support SQLite's write-ahead log: use a local disk.")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.executescript(f"BEGIN; {_TABLES} COMMIT;")
        connection.execute("INSERT INTO terms VALUES (?)", (terms,))
        connection.execute("INSERT INTO head VALUES (0, ?)", (link("", terms),))
    finally:
        connection.close()  # the last one: the log is folded into the file


def _keep_name(folder: Path) -> None:
    """Make the new name durable, where the system can do it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold the ledger alone, from before it is read until what was added is on the disk.

    Whatever goes wrong in between, nothing was added; a failure of the disk at the very end may leave a charge, which
    wastes budget and hides nothing.
    """
    if not os.path.isfile(path):
        raise LedgerError(
            f"There is no ledger {str(path)!r}: make one with tailguard.Session or 'tailguard ledger create'."
        )
    try:
        address = f"file:{quote(str(path))}?mode=rw"  # never makes a file
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
    except sqlite3.Error as error:
        raise _explained(path, error) from None
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        _check_kind(connection, path)
        yield connection
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise _explained(path, error) from None
    finally:
        connection.close()  # rolls back what was not committed


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise LedgerError(f"{str(path)!r} is empty or of another program: it is no ledger of tailguard.")
    if schema != SCHEMA:
        raise LedgerError(
            f"The ledger {str(path)!r} is of version {schema}, and this tailguard reads version {SCHEMA}."
        )
    if connection.execute("PRAGMA quick_check").fetchone() != ("ok",):
        raise _damaged(path)


def read(connection: sqlite3.Connection, path: Path) -> tuple[dict[str, object], tuple[Charge, ...]]:
    """Return the terms and all charges, after a look whether each line fits those before it."""
    terms = connection.execute("SELECT body FROM terms").fetchall()
    head = connection.execute("SELECT count, link FROM head").fetchall()
    rows = connection.execute("SELECT number, body, link FROM charges ORDER BY number").fetchall()
    try:
        ((body,),) = terms
        last, charges = link("", body), []
        for place, (number, line, stated) in enumerate(rows, start=1):
            last = link(last, line)
            charges.append(Charge.of(line))
            if not number == charges[-1].number == place or stated != last:
                raise _damaged(path)
        if head != [(len(rows), last)]:
            raise _damaged(path)
        return json.loads(body), tuple(charges)
    except (ValueError, TypeError, KeyError):
        raise _damaged(path) from None


def append(connection: sqlite3.Connection, charge: Charge) -> None:
    """Add a line; it counts when the transaction ends."""
    body = charge.body()
    (before,) = connection.execute("SELECT link FROM head").fetchone()
    last = link(before, body)
    connection.execute("INSERT INTO charges VALUES (?, ?, ?)", (charge.number, body, last))
    connection.execute("UPDATE head SET count = ?, link = ?", (charge.number, last))


def _damaged(path: Path) -> LedgerError:
    return LedgerError(
        f"The ledger {str(path)!r} is damaged or was altered: nothing is released on it until a good copy is restored."
    )


def _explained(path: Path, error: sqlite3.Error) -> LedgerError:
    """Return one sentence about a failure of SQLite."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the details in the upper bits
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return LedgerError(f"Another program has held the ledger {str(path)!r} for {PATIENCE:g} seconds.")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return LedgerError(f"The ledger {str(path)!r} cannot be written, perhaps because the disk is full.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return LedgerError(f"The ledger {str(path)!r}, or its folder, may not be written.")
    if code == sqlite3.SQLITE_NOTADB:
        return LedgerError(f"{str(path)!r} is no ledger, or one that is damaged.")
    return _damaged(path)
