"""`reproduce`: wrong words cost nothing, right ones write files."""

import json

import pytest

from tests.support.small_figures import TINY


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr("tailguard.reproduction.study.FAST", TINY)


def test_a_figure_is_measured_and_written(tailguard, tmp_path):
    words = ("reproduce", "fig7", "--fast", "--repetitions", "1", "--processes", "1", "--out", tmp_path)
    outcome = tailguard(*words)
    assert outcome.status == 0, outcome.err
    assert "Figure 7: sparse linear regression" in outcome.out
    assert "non-private optimum" in outcome.out
    assert {path.name for path in (tmp_path / "hu").iterdir()} == {"fig7.csv", "fig7-fits.csv", "fig7.png"}
    assert "## Figure 7" in (tmp_path / "hu.md").read_text("utf-8")


def test_json_has_the_lines(tailguard, tmp_path):
    words = ("reproduce", "fig10", "--fast", "--repetitions", "1", "--processes", "1", "--out", tmp_path)
    outcome = tailguard(*words, "--json", "--seed", "5", "--ridge", "0.1")
    assert outcome.status == 0, outcome.err
    lines = json.loads(outcome.out)["fig10"]
    assert {line["seed"] for line in lines} == {5}
    assert {line["readings"] for line in lines} == {"ridge=0.1"}
    assert {"zero", "start", "non-private", "minimiser", "truth"} < {line["method"] for line in lines}
    assert all(line["epsilon"] is None for line in lines if line["method"] == "zero")


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        (("fig12",), "'figures' parameter of reproduce must be one of 'fig1'", 2),
        (("fig1", "--repetitions", "0"), "'repetitions' parameter of reproduce must be an integer of at least 1", 2),
        (("fig1", "--seed", "-1"), "'seed' parameter of reproduce must be an integer of at least 0", 2),
        (("fig1", "--processes", "0"), "'processes' parameter of reproduce", 2),
        (("fig1", "--lognormal", "mean"), "'lognormal' parameter of reproduce must be one of 'sigma2', 'sigma'", 2),
        (("fig1", "--ridge", "-2"), "'ridge' parameter of reproduce must be a finite number at least 0", 2),
        (("fig3",), "Figure 3 lacks data: --data-dir gives no file with a varying column 'target' for Blog", 1),
        (("fig3", "fig4", "--data-dir", "nowhere"), "There is no folder 'nowhere'", 1),
    ],
)
def test_wrong_words_are_one_sentence(tailguard, tmp_path, words, said, status):
    outcome = tailguard("reproduce", *words, "--fast", "--out", tmp_path / "out")
    assert outcome.status == status
    assert said in outcome.sentence()
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_written_is_refused_first(tailguard, tmp_path):
    (tmp_path / "file").write_text("")
    outcome = tailguard("reproduce", "fig1", "--fast", "--out", tmp_path / "file")
    assert outcome.status == 1
    assert "cannot be written" in outcome.sentence()


def test_without_matplotlib_one_sentence(tailguard, tmp_path, monkeypatch):
    monkeypatch.setattr("tailguard.reproduction.draw.find_spec", lambda name: None)
    outcome = tailguard("reproduce", "fig1", "--fast", "--out", tmp_path / "out")
    assert outcome.status == 1
    assert "pip install 'tailguard[plots]'" in outcome.sentence()


def test_all_passes_over_missing_data(tailguard, tmp_path, monkeypatch):
    from tailguard.reproduction import figures

    few = {name: figures.FIGURES[name] for name in ("fig3", "fig5")}
    monkeypatch.setattr("tailguard.reproduction.figures.FIGURES", few)
    words = ("reproduce", "all", "--fast", "--repetitions", "1", "--processes", "1", "--out", tmp_path)
    outcome = tailguard(*words)
    assert outcome.status == 0
    assert outcome.err.startswith("tailguard: Figure 3 lacks data")
    assert "Figure 5" in outcome.out
