"""One look at the truth: right without noise, as noisy as the budget says, and ahead of who must find the way."""

import numpy as np
import pytest

from benchmarks.datasets.linear import Linear
from benchmarks.datasets.logistic import Logistic
from benchmarks.floor import _fit, floors, looks
from benchmarks.solvers import NonPrivate

TASKS = (Linear("gaussian", 4000, 3), Linear("t3", 4000, 3, location=30.0), Logistic("t5", 4000, 3))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_without_noise_nothing_clipped_is_a_fit_without_privacy(task):
    drawn = task.draw(500)
    plain = task.excess(drawn, NonPrivate().fit(task.task, drawn.records(), None, 500))
    widest = {"linear": "0 0", "logistic": "logistic 0"}[task.task]
    _, look, back = next(found for found in looks(task, drawn) if found[0] == widest)
    step = back @ look.step(np.zeros(task.d + 1), task.n, 1.0)
    excess = task.excess(drawn, _fit(task, drawn.truth, step, 1.0))
    assert excess == pytest.approx(plain, rel=0.15, abs=2e-4)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_record_moves_a_mean_score_by_no_more_than_the_noise_is_for(task):
    drawn = task.draw(500)
    for _, look, _ in looks(task, drawn):
        assert np.linalg.norm(look.score) <= look.bound * (1.0 + 1e-9)
        calm, moved = (look.step(np.full(task.d + 1, size), task.n, 0.5) for size in (0.0, 1.0))
        jump = look.curvature @ (moved - calm)
        assert np.allclose(jump, 2.0 * look.bound / (task.n * 0.5))


def test_the_floor_falls_with_the_budget():
    found = floors(TASKS[0], 2)
    assert found[0.1] > found[0.5] > found[2.0] > 0.0
