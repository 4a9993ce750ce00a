"""`bench`: it is found in a checkout, and missed in one sentence."""

import json
from pathlib import Path

import pytest

import tailguard.cli.bench as bench  # the verb hides the module


@pytest.fixture
def commands(monkeypatch):
    """What would be run, instead of running it."""
    found = []

    class Done:
        returncode = 0

    def run(words, cwd, stdout):
        found.append((words, cwd))
        return Done

    monkeypatch.setattr(bench.subprocess, "run", run)
    return found


def test_words_are_passed_on(tailguard, commands, tmp_path):
    words = ("--fast", "--tasks", "linear", "--tasks", "mean", "--methods", "null", "--data-dir", tmp_path)
    assert tailguard("bench", *words, "--out", tmp_path / "out", "--jobs", "1").status == 0
    (command, folder), *_ = commands
    assert command[1:3] == ["-m", "benchmarks"]
    assert command[3:] == [
        *("--fast", "--tasks", "linear", "mean", "--methods", "null", "--data-dir", str(tmp_path)),
        *("--out", str(tmp_path / "out"), "--jobs", "1"),
    ]
    assert (folder / "benchmarks" / "objective.py").is_file()


def test_the_summary_is_there_for_machines(tailguard, commands, tmp_path):
    (tmp_path / "summary.csv").write_text("task,method,excess\nlinear,tailguard,0.01\n")
    found = json.loads(tailguard("bench", "--fast", "--out", tmp_path, "--json").out)
    assert found == [{"task": "linear", "method": "tailguard", "excess": "0.01"}]


def test_results_stay_where_the_command_was_given(tailguard, commands, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tailguard("bench")
    assert str(tmp_path / "out" / "bench-full") in commands[0][0]


def test_without_a_checkout_it_says_so(tailguard, commands, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench.tailguard, "__file__", str(tmp_path / "tailguard" / "__init__.py"))
    assert "run it in a checkout" in tailguard("bench").sentence()
    assert not commands


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(("--jobs", "0"), "'jobs' parameter of bench"), (("--data-dir", "nowhere"), "There is no folder 'nowhere'.")],
)
def test_wrong_words(tailguard, commands, words, sentence):
    assert sentence in tailguard("bench", *words).sentence()
    assert not commands


def test_the_checkout_is_this_one():
    assert bench._checkout() == Path(__file__).resolve().parents[2]
