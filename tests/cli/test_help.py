"""Help is instant and complete."""

import inspect
import os
import re
import shlex
import subprocess
import sys

import pytest
from typer.main import get_command

from tailguard.cli.main import app


def leaves(command, words=()):
    """Every verb and sub-verb with its words, from the program itself."""
    if not hasattr(command, "commands"):
        yield words, command
    for name, part in getattr(command, "commands", {}).items():
        yield from leaves(part, (*words, name))


COMMANDS = dict(leaves(get_command(app)))
VERBS = sorted({words[0] for words in COMMANDS})


def options(command):
    return {option for parameter in command.params for option in parameter.opts}


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_names_every_verb(tailguard, words):
    outcome = tailguard(*words)
    assert outcome.status == 0
    assert all(f" {verb} " in outcome.out for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_an_example(tailguard, verb):
    outcome = tailguard(verb, "--help")
    assert outcome.status == 0
    assert f"Example: tailguard {verb}" in outcome.out


def test_there_is_no_verb_that_these_tests_do_not_see():
    assert len(COMMANDS) >= 15
    assert {("fit",), ("mean",), ("predict",), ("evaluate",), ("audit",), ("ledger", "export")} <= COMMANDS.keys()


def example(words):
    """The example in the help of a verb, as words for it."""
    (line,) = re.findall(r"Example: tailguard (.*)", inspect.getdoc(COMMANDS[words].callback))
    line = line.partition(" > ")[0]
    found = shlex.split(line)
    assert tuple(found[: len(words)]) == words
    return found[len(words) :]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_example_is_shown_and_is_right_use(tailguard, words):
    outcome = tailguard(*words, "--help")
    assert outcome.status == 0
    assert f"Example: tailguard {' '.join(words)}" in " ".join(outcome.out.split())
    COMMANDS[words].make_context(words[-1], example(words))  # raises where an option or a value is wrong


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_results_are_there_for_machines_and_plans_before_data(words):
    assert "--json" in options(COMMANDS[words])
    touches_data = "data" in {parameter.name for parameter in COMMANDS[words].params}
    assert ("--dry-run" in options(COMMANDS[words])) == touches_data


def test_version(tailguard):
    import tailguard as package

    assert tailguard("--version").out == f"tailguard {package.__version__}\n"


def test_help_imports_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'opendp', 'dp_accounting', 'jinja2', 'matplotlib'}"
    code = f"import sys; from tailguard.cli import main; main(['fit', '--help']); print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("set()")


def test_a_closed_pipe_is_no_complaint():
    """Whatever a verb prints; here it prints at once, and its reader has gone."""
    code = "import sys; from tailguard.cli import main; "
    code += "sys.modules['tailguard.cli.main'].app = lambda **_: sys.stdout.write('results'); main(['fit'])"
    done = subprocess.run(["bash", "-c", f'"{sys.executable}" -c "{code}" | true'], capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("tailguard pre", "predict"), ("tailguard ledger sh", "show"), ("tailguard fit --model log", "logistic")],
)
def test_the_shell_completes_words(typed, offered):
    """As bash asks for it, once `tailguard --install-completion` has told it how."""
    asked = {"_TAILGUARD_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    code = "import sys; from tailguard.cli import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True)
    assert done.stdout.split() == [offered]
