"""Finished cells on disk: one line of JSON each, appended at once; a killed run loses the cells in work alone."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

__all__ = ["Key", "Store"]

Key = tuple[str, str, float, float, int]


class Store:
    """The cells of a run.

    Parameters
    ----------
    folder : Path
        Where `cells.jsonl` lies.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self._notes = folder / "cells.jsonl", folder / "sessions.jsonl"
        self._read, self._lines = 0, 0

    def append(self, row: dict[str, Any]) -> None:
        """Add a row in one write; several processes may."""
        line = (json.dumps(row) + "\n").encode()
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line  # a kill cut the last line short: it must not swallow this one
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def count(self) -> int:
        """Return the number of lines so far; reads what is new alone."""
        if self.path.exists():
            with self.path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
            self._read += len(new)
            self._lines += new.count(b"\n")
        return self._lines

    def rows(self) -> dict[Key, dict[str, Any]]:
        """Return the rows by key; a line that a kill cut short is left out, a later row replaces an earlier one."""
        found: dict[Key, dict[str, Any]] = {}
        for line in self.path.read_text("utf-8").splitlines() if self.path.exists() else []:
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            found[key(row)] = row
        return found

    def note(self, session: dict[str, Any]) -> None:
        """Add what is known about a session that ran cells."""
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(session) + "\n")

    def sessions(self) -> list[dict[str, Any]]:
        """Return the sessions that ran the cells, in their order."""
        return (
            [json.loads(line) for line in self._notes.read_text("utf-8").splitlines()] if self._notes.exists() else []
        )

    def done(self) -> set[Key]:
        """Return the keys of cells that need not be run again: those that were not skipped."""
        return {name for name, row in self.rows().items() if not row["status"].startswith("skipped")}


def key(row: dict[str, Any]) -> Key:
    """Return what names a row."""
    solver = "|".join((row["method"], row["variant"], row["relation"]))
    return row["task"], solver, row["epsilon"], row["delta"], row["seed"]
