"""Progress is shown to people who wait, and to nobody else."""

import io
import sys

import pytest

from tailguard.cli import main
from tailguard.cli.console import progress, working


class Terminal(io.StringIO):
    def isatty(self):
        return True


def at_terminal(monkeypatch):
    """Standard error as a terminal; in a test's own body, because pytest puts its own in place after set-up."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    return found


def spend(quiet):
    with progress("Fitting", 3, quiet) as advance:
        for _ in range(3):
            advance(1)
    with working("Planning", quiet):
        pass


def test_a_terminal_sees_a_bar(monkeypatch):
    terminal = at_terminal(monkeypatch)
    spend(quiet=False)
    assert "Fitting" in terminal.getvalue()
    assert "100%" in terminal.getvalue()
    assert "Planning" in terminal.getvalue()


def test_nobody_else_does(monkeypatch):
    terminal = at_terminal(monkeypatch)
    spend(quiet=True)
    assert terminal.getvalue() == ""
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    spend(quiet=False)
    assert file.getvalue() == ""


@pytest.mark.parametrize("name", ["claims.csv", "claims.parquet"])
def test_verbs_show_it_but_not_beside_json(files, tmp_path, name, monkeypatch):
    terminal = at_terminal(monkeypatch)
    fit = ["fit", str(files / name), "--target", "pay", "--epsilon", "4"]
    assert main([*fit, "--output", str(tmp_path / "model.json"), "--json"]) == 0
    assert terminal.getvalue() == ""
    assert main(fit) == 0
    assert "Fitting" in terminal.getvalue()
    assert ("Reading" in terminal.getvalue()) == (name == "claims.csv")
    assert main(["predict", str(tmp_path / "model.json"), str(files / name), "--output", str(tmp_path / "p.csv")]) == 0
    assert "Predicting" in terminal.getvalue()
