"""Help is instant and complete."""

import os
import subprocess
import sys

import pytest

VERBS = (
    "demo",
    "advise",
    "plan",
    "verify",
    "fit",
    "mean",
    "predict",
    "evaluate",
    "reproduce",
    "bench",
    "certify",
    "ledger",
)


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


def test_version(tailguard):
    import tailguard as package

    assert tailguard("--version").out == f"tailguard {package.__version__}\n"


def test_help_imports_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'opendp', 'dp_accounting', 'jinja2', 'matplotlib'}"
    code = f"import sys; from tailguard.cli import main; main(['fit', '--help']); print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("set()")


def test_a_closed_pipe_is_no_complaint():
    words = "['plan', '--rows', '9000', '--features', '5', '--json']"
    command = f'"{sys.executable}" -c "from tailguard.cli import main; main({words})" | true'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
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
