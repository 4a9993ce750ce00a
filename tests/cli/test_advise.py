"""Advice on the command line."""

import json

import pytest


def test_the_table_the_curve_and_what_is_assumed(tailguard):
    outcome = tailguard("advise", "--rows", 20_000, "--features", 8, "--epsilon", 1)
    assert outcome.status == 0, outcome.err
    assert "what method=auto takes" in outcome.out
    assert "a signal 1 times as strong as the noise" in outcome.out
    assert "An error of 0.1 needs about" in outcome.out
    assert all(f"\n{epsilon} " in outcome.out for epsilon in ("0.1", "1", "8"))


def test_json_and_refusals(tailguard):
    words = ("--rows", 300, "--features", 20, "--loss", "logistic", "--json")
    found = json.loads(tailguard("advise", *words).out)
    assert all(option["predicted"] is None for option in found["options"])
    assert "needs about" in found["options"][0]["refusal"]
    assert tailguard("advise", "--rows", 0, "--features", 2).status == 2


def test_a_delta_that_stays_unspent_is_told(tailguard):
    words = ("--rows", 442, "--features", 10, "--epsilon", 1, "--delta", 1e-6)
    advice = tailguard("advise", *words).out
    assert "what method=auto takes, with δ = 0" in advice
    assert "objective_perturbation with δ = 0" in advice
    plan = tailguard("plan", *words).out
    assert "Guarantee: ε = 1, δ = 0;" in plan
    assert "Not spent: δ = 1e-06 was asked for" in plan
    option = json.loads(tailguard("advise", *words, "--json").out)["options"][0]
    assert (option["recipe"], option["delta"]) == ("objective_perturbation", 0.0)


def test_public_units_of_a_file(tailguard, tmp_path):
    units = tmp_path / "units.json"
    units.write_text(json.dumps({"features": 1.0, "target": 1.0, "centres": 0.0, "target_centre": 0.0}))
    words = ("advise", "--rows", 10_000, "--features", 20, "--epsilon", 0.1, "--json")
    without, given = (json.loads(tailguard(*words, *more).out) for more in ((), ("--scales", units)))
    first, second = (found["options"][0]["predicted"] for found in (without, given))
    assert second < 0.5 * first
    assert tailguard(*words, "--scales", tmp_path / "none.json").status == 2


@pytest.mark.parametrize(
    ("words", "loss"),
    [
        (("linear",), "squared"),
        (("logistic",), "logistic"),
        (("svc",), "hinge"),
        (("least-absolute",), "absolute"),
        (("robust", "--robust-loss", "biweight"), "biweight"),
        (("sparse-linear", "--sparsity", 3), "squared"),
        (("lasso", "--radius", 2), "squared"),
        (("mean",), "squared distance"),
    ],
)
def test_it_takes_the_words_of_fit_and_plan(tailguard, words, loss):
    """What is advised is what a plan of the same words does."""
    facts = ("--rows", 20_000, "--features", 30, "--model", *words, "--json")
    advice, plan = (json.loads(tailguard(verb, *facts).out) for verb in ("advise", "plan"))
    assert advice["loss"] == loss
    assert [option["recipe"] for option in advice["options"] if option["automatic"]] == [plan["plan"]["recipe"]]


def test_a_sparse_model_needs_its_number_of_columns(tailguard):
    words = ("advise", "--rows", 20_000, "--features", 30)
    assert "'sparsity'" in tailguard(*words, "--model", "sparse-linear").sentence()
    assert "'sparsity'" in tailguard(*words, "--model", "linear", "--sparsity", 3).sentence()
