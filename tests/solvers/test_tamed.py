"""Noise without a mean gets a loss that forgets it; usual heavy tails do not."""

import numpy as np
import pytest

from tailguard.losses import Biweight, Huber, Logistic, Squared
from tailguard.solvers.tamed import CERTAIN, SHARE, WIDTH, WILD, tamed

RNG = np.random.default_rng(0)
TAILS = {
    "normal": (RNG.normal(size=20_000), False),
    "t2": (RNG.standard_t(2, size=20_000), False),
    "cauchy": (RNG.standard_cauchy(size=20_000), False),
    "lognormal": (np.exp(2.0 * RNG.normal(size=20_000)), False),
    "log-logistic 1/10": ((1.0 / RNG.random(20_000) - 1.0) ** -10.0, True),
    "pareto 1/4": (RNG.pareto(0.25, size=20_000), True),
}


@pytest.mark.parametrize(("noise", "wild"), TAILS.values(), ids=TAILS.keys())
def test_only_tails_without_any_moment_are_wild(noise, wild):
    sizes = np.abs(noise - np.median(noise))
    near = np.quantile(sizes, 0.3)
    loss = tamed(Squared(), near, np.mean(sizes > WILD * near), 1e-3)
    assert loss == (Biweight(WIDTH * near) if wild else Squared())


def test_noise_is_not_taken_for_a_tail():
    assert tamed(Squared(), 1.0, SHARE + 2.9 * 0.1, 0.1) == Squared()
    assert tamed(Squared(), 1.0, SHARE + (CERTAIN + 0.1) * 0.1, 0.1) == Biweight(WIDTH)


@pytest.mark.parametrize("loss", [Huber(1.0), Biweight(3.0), Logistic()])
def test_a_loss_that_was_asked_for_is_kept(loss):
    assert tamed(loss, 1.0, 1.0, 0.0) == loss
