"""Every example in the documents runs, and the documents name what the package exports."""

import doctest
import importlib
import importlib.metadata
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import tailguard
from tailguard.cli import main
from tailguard.cli.costs import synthetic_costs
from tailguard.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
DOCUMENTS = [path for path in PAGES if "```python" in path.read_text("utf-8")]
HOOKS = runpy.run_path(str(ROOT / "docs" / "hooks.py"))
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(tailguard.__path__, "tailguard.") if "__main__" not in module.name
)


def blocks(path, language):
    """The examples of a page; those with a file of the reader's own are for test_new_user."""
    found = re.findall(rf"^```{language}\n(.*?)^```", path.read_text("utf-8"), re.S | re.M)
    return [block for block in found if "claims.csv" not in block]


def test_there_are_documents_with_examples():
    names = {path.name for path in DOCUMENTS}
    examples = {"medical-costs.md", "insurance-severity.md", "default-prediction.md", "sparse-genetics.md"}
    assert {"README.md", "index.md", "how-it-works.md", "choosing.md", "extending.md", "report.md", *examples} <= names


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_examples_run(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(path, "python"))
    if "@register" not in code and "@dataclass" not in code:
        exec(compile(code, path.name, "exec"), {"__name__": path.stem})
        return
    # In a process of its own: what an example registers must not leak into other tests.
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


COMMANDS = [path for path in PAGES if "$ tailguard " in path.read_text("utf-8")]


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.name)
def test_commands_run(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    synthetic_costs(20_000).write(tmp_path / "out" / "demo-data.parquet")  # as `tailguard demo` does
    lines = [line for block in blocks(path, "console") for line in block.splitlines()]
    commands = [line.removeprefix("$ tailguard ") for line in lines if line.startswith("$ tailguard ")]
    assert commands
    for command in commands:
        capsys.readouterr()
        words, _, file = command.partition(" > ")
        assert main(shlex.split(words)) == 0, (command, capsys.readouterr().err)
        if file:
            (tmp_path / file).write_text(capsys.readouterr().out)


def test_commands_that_take_too_long_to_run_are_right_use():
    """Every other line of a shell that begins with `tailguard`: its options exist and take such values."""
    found = 0
    for path in PAGES:
        for line in re.findall(r"^tailguard (.*)$", "\n".join(blocks(path, "sh")), re.M):
            words, command = shlex.split(line, comments=True), get_command(app)
            while hasattr(command, "commands"):
                command = command.commands[words.pop(0)]
            command.make_context(command.name, words)  # raises where an option or a value is wrong
            found += 1
    assert found >= 9


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.parametrize("name", ["medical_costs.py", "accuracy.py --quick --image picture.svg"])
def test_examples(name, tmp_path, monkeypatch, capsys):
    script, *words = name.split()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [script, *words])
    runpy.run_path(str(ROOT / "examples" / script), run_name="__main__")
    assert capsys.readouterr().out
    assert all((tmp_path / word).stat().st_size for word in words if word.endswith(".svg"))


def documented(text):
    """The objects that a page of the reference documents, each of them looked up."""
    found = {}
    for address in re.findall(r"^::: (\S+)$", text, re.M):
        module, _, name = address.rpartition(".")
        found[name] = getattr(importlib.import_module(module), name)
    return found


def test_the_reference_has_what_the_package_exports():
    found = documented((ROOT / "docs" / "reference" / "index.md").read_text("utf-8"))
    exported = {name: getattr(tailguard, name) for name in tailguard.__all__}
    packages = {name for name, value in exported.items() if hasattr(value, "__path__")}
    assert found == {name: value for name, value in exported.items() if name not in packages}
    assert packages <= set(HOOKS["packages"]())


@pytest.mark.parametrize("package", HOOKS["packages"]())
def test_the_reference_of_a_subpackage_is_its_exports(package):
    module = importlib.import_module(f"tailguard.{package}")
    found = documented(HOOKS["reference"](package))
    assert found == {name: getattr(module, name) for name in module.__all__}


@pytest.mark.parametrize("module", MODULES)
def test_modules_export_what_they_have(module):
    loaded = importlib.import_module(module)
    names = getattr(loaded, "__all__", None)
    assert names is not None, "a module must say what it exports"
    assert len(names) == len(set(names))
    assert all(hasattr(loaded, name) for name in names)


def test_exports_are_lazy_sorted_and_there():
    assert sorted(tailguard.__all__) == tailguard.__all__
    assert set(tailguard.__all__) <= set(dir(tailguard))
    assert all(getattr(tailguard, name) is not None for name in tailguard.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = tailguard.nonsense
    assert tailguard.__version__ == importlib.metadata.version("tailguard")


def test_every_proof_note_is_a_page_with_a_title():
    notes = HOOKS["proofs"]()
    assert len(notes) == len(list((ROOT / "src").rglob("*.md")))
    assert all(text.startswith("# ") for text in notes.values())


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\((?!http)([^)#]+)", path.read_text("utf-8")):
        assert (ROOT / link).exists(), link
