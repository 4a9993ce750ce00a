"""Recipes and theory state the papers' numbers independently; they must be the same numbers."""

import pytest

from tailguard.privacy import Privacy
from tailguard.recipes import clipping, iterative_updating, truncated_mean
from tailguard.theory import Setting, tao, zhao

SETTINGS = [
    Setting(n=n, d=d, epsilon=epsilon, delta=delta, order=order, bound=bound, failure=0.15)
    for n, d, epsilon, delta in ((1000, 1, 0.1, 1e-5), (50_000, 7, 1.0, 1e-6))
    for order, bound in ((2.0, 1.0), (3.5, 0.2))
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_zhao(setting):
    rho = clipping.concentrated_budget(Privacy(setting.epsilon, setting.delta))
    assert rho == pytest.approx(setting.rho, rel=1e-12)
    radius = clipping.clip_radius(setting.n, setting.d, rho, setting.order, setting.bound)
    assert radius == pytest.approx(zhao.clip_radius(setting), rel=1e-12)
    wide = iterative_updating.updating_radius(setting.n, setting.d, setting.epsilon, setting.order, setting.bound)
    assert wide == pytest.approx(zhao.iterated_radius(setting), rel=1e-12)


@pytest.mark.parametrize("order", [1.2, 1.5, 2.0])
def test_tao(order):
    # The theorem fails with three times the ξ for which its threshold is set.
    setting = Setting(n=5000, epsilon=0.3, delta=1e-6, order=order, bound=4.0, failure=3 * truncated_mean.FAILURE)
    threshold = truncated_mean.truncation_threshold(5000, Privacy(0.3, 1e-6), order, 4.0)
    assert threshold == pytest.approx(tao.truncation_threshold(setting), rel=1e-12)
