"""The printed double output perturbation of Lowy 2026, told everything that its theorem asks for."""

import numpy as np

import tailguard as tg
from benchmarks.datasets.linear import Linear, Model
from benchmarks.datasets.logistic import Logistic
from benchmarks.datasets.pure import SMOOTHING, Deviations, Margin
from benchmarks.objective import Drawn, Fit
from tailguard.domains import L2Ball
from tailguard.losses import Absolute, Hinge, Loss, Squared
from tailguard.losses import Logistic as LogLoss

__all__ = ["excess"]

LOSSES: dict[type, Loss] = {
    Linear: Squared(),
    Logistic: LogLoss(),
    Deviations: Absolute(SMOOTHING),
    Margin: Hinge(SMOOTHING),
}


def excess(task: Linear | Logistic, drawn: Drawn, epsilon: float, seed: int) -> float:
    """Return the excess of `double_output_perturbation`, not a number where it is refused.

    No user knows what it is told: exact centres and units, twice the length of the true model as a radius, and the
    second moment of the largest gradients in that ball.
    """
    assert drawn.y is not None
    assert drawn.X_test is not None
    assert drawn.y_test is not None
    model: Model = drawn.truth
    centre, scale = (task._design.mean + task._shift) * model.units, task._deviations * model.units
    radius = 2.0 * float(np.linalg.norm(model.slopes * task._deviations))
    loss, lengths = LOSSES[type(task)], np.linalg.norm((drawn.X_test - centre) / scale, axis=1)
    sizes = np.abs(drawn.y_test - model.centre) / model.spread + radius * lengths
    bound = float(np.sqrt(np.mean((lengths * (sizes if loss.lipschitz is None else 1.0)) ** 2)))
    target = (drawn.y - model.centre) / model.spread if isinstance(task, Linear) else drawn.y
    try:
        release = tg.minimize(
            loss,
            L2Ball(task.d, radius),
            ((drawn.X - centre) / scale, target),
            tg.Privacy(epsilon, 0.0),
            method="double_output_perturbation",
            parameters="paper",
            moment=tg.Moment(2.0, bound, "norm"),
            random_state=seed,
        )
    except tg.BudgetError:
        return np.nan
    slopes = np.asarray(release.estimate.coefficients) * model.spread / scale
    return task.measures(drawn, Fit(slopes, float(model.centre - slopes @ centre)))["excess"]
