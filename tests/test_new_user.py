"""A new user's path: the very commands of the README, by a shell, from a clone to a verified certificate.

Two things differ from a fresh machine: `make demo` finds this environment instead of making one, and the browser
is asked for what it shows instead of showing it.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
HEADING = "## From a clone to a certificate"

TAILGUARD = """#!{python}
import sys
from tailguard.cli import main
sys.exit(main())
"""
MAKE = """#!/bin/sh
set -e
test "$*" = demo
{commands}
"""
ACTIVATE = 'PATH="$PWD/.venv/bin:$PATH"\n'
BROWSER = """#!/bin/sh
set -e
test -s "$1"
{browser} > seen.html
"""


def commands() -> list[str]:
    """The commands of the section, as they stand there."""
    section = README.split(HEADING)[1].split("\n## ")[0]
    (block,) = re.findall(r"^```console\n(.*?)^```", section, re.S | re.M)
    return [line.removeprefix("$ ") for line in block.splitlines()]


def recipe() -> str:
    """What `make demo` runs once its environment is there, as the Makefile has it."""
    (found,) = re.findall(r"^demo:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.M)
    return found.replace("\t", "").replace("$(BIN)", ".venv/bin")


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def clone(tmp_path):
    """A folder with what `make demo` leaves behind, a CSV file, and a browser without a window."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    shown = f'{chromium} --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --dump-dom "$PWD/$1"'
    write_program(tmp_path / ".venv" / "bin" / "tailguard", TAILGUARD.format(python=sys.executable))
    (tmp_path / ".venv" / "bin" / "activate").write_text(ACTIVATE)
    write_program(tmp_path / "programs" / "make", MAKE.format(commands=recipe()))
    write_program(tmp_path / "programs" / "xdg-open", BROWSER.format(browser=shown if chromium else 'cat "$1"'))
    rng = np.random.default_rng(8)
    age, earlier = rng.integers(18, 80, 6000), np.exp(rng.normal(6.0, 1.0, 6000)).round(2)
    cost = (20.0 * age + 0.5 * earlier + 200.0 * rng.standard_t(3, 6000)).round(2)
    lines = [f"{a};{e};{c}" for a, e, c in zip(age, earlier, cost, strict=True)]
    (tmp_path / "claims.csv").write_text("\n".join(["age;earlier cost;cost", *lines]) + "\n")
    return tmp_path


def test_the_readme_has_the_whole_path():
    verbs = [" ".join(line.split()[:2]) for line in commands()]
    path = ["make demo", ". .venv/bin/activate", "tailguard fit", "xdg-open out/report.html", "tailguard verify"]
    assert list(dict.fromkeys(verbs)) == path
    assert "make demo" in README.split(HEADING)[0]


@pytest.mark.skipif(sys.platform == "win32", reason="the README's commands are for a POSIX shell")
def test_each_step_works_as_written(clone):
    script = "\n".join(["set -eu", *(f"echo '--- {line}'\n{line}" for line in commands())])
    path = f"{clone / 'programs'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(["sh", "-c", script], cwd=clone, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    _, demo, _, plan, fit, _, verdict = done.stdout.split("--- ")
    assert "SYNTHETIC" in demo
    assert "Plan of a private linear regression: 6000 rows, 2 columns" in plan
    assert "earlier cost" in fit
    assert "The certificate is good" in verdict
    assert "is the one that the certificate is for" in verdict
    assert "Private linear regression of cost" in (clone / "seen.html").read_text("utf-8")
    assert {file.name for file in (clone / "out").iterdir()} >= {"demo-report.html", "model.json", "certificate.json"}
