"""What plans, releases and selections say where they are printed, or shown in a notebook."""

import numpy as np
import pytest

import tailguard as tg
from tests.support.registry_plans import CASES

X = np.random.default_rng(0).standard_t(4, size=(3000, 2))
Y = X @ [1.0, -1.0]


class Printer:
    def text(self, words):
        self.words = words


def shown(subject):
    printer = Printer()
    subject._repr_pretty_(printer, False)
    return printer.words


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_plan_has_a_line_for_every_name_of_its_steps(case):
    head, *lines = str(case.plan).splitlines()
    assert head.startswith(f"Plan of {case.plan.recipe} (")
    assert head.endswith(f"{case.plan.privacy}, replace-one")
    assert [line.split(":")[0].strip() for line in lines] == list(dict.fromkeys(step.name for step in case.plan.steps))
    assert shown(case.plan) == str(case.plan)


def test_the_line_counts_all_releases_and_their_noise():
    plan = tg.LinearRegression().plan(20_000, 6)
    lines = dict(line.strip().split(": ") for line in str(plan).splitlines()[1:])
    steps = [step for step in plan.steps if step.name == "gradient"]
    noise = [step.multiplier for step in steps]
    words = f"{sum(step.count for step in steps)} × 7 numbers by weighted sum, Gaussian, "
    assert lines["gradient"] == words + f"noise of {min(noise):.4g} to {max(noise):.4g} × sensitivity"
    assert lines["tilt"].startswith("1 × 1 number by clipped sum, Gaussian, noise of ")


def test_a_release_is_two_lines():
    release = tg.LinearRegression(random_state=0).fit(X, Y).release_
    head, how = str(release).splitlines()
    assert head == f"Release of newton: squared loss, 3000 rows, {release.guarantee}"
    assert how == f"  {len(release.ledger.entries)} noisy releases, simulation from seed 0, NOT PRIVATE"
    assert shown(release) == str(release)


def test_a_selection_says_what_was_chosen():
    chosen = tg.select({"free": tg.LinearRegression(), "short": tg.Lasso(0.1)}, X, Y, epsilon=10.0, random_state=0)
    best = chosen.best_estimator_
    told = "a simulation from a seed, NOT PRIVATE"
    assert str(chosen) == f"free, chosen among it and short ({chosen.privacy_}; {told}): {best}"
    assert shown(chosen) == str(chosen)


def test_only_plans_are_verified():
    with pytest.raises(
        tg.ParameterError, match=r"^The 'plan' parameter of verify must be a Plan\. Got 'str' instead\.$"
    ):
        tg.verify("plan.json")
