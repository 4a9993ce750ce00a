"""Pure privacy of discrete Laplace noise, by brute force."""

import numpy as np
import pytest

from tailguard.mechanisms import Laplace
from tests.support.laws import discrete_laplace


@pytest.mark.parametrize("sensitivity", [1, 3, 20])
@pytest.mark.parametrize("multiplier", [0.3, 2.0])
def test_loss_of_a_shift_is_at_most_its_event(sensitivity: int, multiplier: float) -> None:
    event = Laplace().event(multiplier, sensitivity, 1)
    _, p = discrete_laplace(multiplier * sensitivity)
    loss = np.log(p[sensitivity:] / p[:-sensitivity])
    assert np.abs(loss).max() == pytest.approx(1 / event.multiplier)


def test_continuous_laplace_does_not_dominate_the_discrete_law() -> None:
    # Why the event promises ε alone: the largest loss is likelier than for the continuous mechanism.
    scale, sensitivity = 4.0, 3
    k, p = discrete_laplace(scale)
    assert p[k <= 0].sum() == pytest.approx(1 / (1 + np.exp(-1 / scale)))
    epsilon = (sensitivity - 0.5) / scale
    shifted = np.interp(k - sensitivity, k, p)
    discrete = np.clip(p - np.exp(epsilon) * shifted, 0, None).sum()
    continuous = -np.expm1((epsilon - sensitivity / scale) / 2)
    assert discrete > continuous
