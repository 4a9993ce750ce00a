"""DP-SGD of other libraries: one linear layer from zero, plain steps, per-record gradients clipped in ℓ2.

For replace-one neighbours all records take part in each of 40 steps: twice the clip norm is the sensitivity of a sum,
and the closed form of the Gaussian mechanism is exact. In the libraries' own relation 80 Poisson batches of a quarter
of the records (20 epochs), with the noise that the library itself chooses.
"""

import numpy as np

from benchmarks.objective import Budget, Drawn, Fit, Solver
from benchmarks.peers.accounting import full_batch_multiplier, noisy_gradients_epsilon
from benchmarks.solvers.peer import Oracle, PeerSolver, scales

__all__ = ["OWN", "TUNED", "NoisySGD", "tuned"]

FULL_STEPS = 40
POISSON_RATE, POISSON_STEPS = 0.25, 80
LINEAR, LOGISTIC = ("linear", "sparse"), ("logistic", "sparse-logistic")
BOTH = LINEAR + LOGISTIC
TUNED = {
    (1.0, 0.06): LINEAR,
    (1.0, 0.1): BOTH,
    (3.0, 0.2): BOTH,
    (3.0, 0.4): LOGISTIC,
    (3.0, 0.8): LOGISTIC,
    (10.0, 0.2): LINEAR,
    (10.0, 0.4): LINEAR,
    (10.0, 1.6): LOGISTIC,
    (30.0, 0.4): LINEAR,
}
"""Clip norms and reaches: a step of full clipped gradients moves `reach`·√(d + 1) in scaled units.

Each was the best of a grid, or close, for some ε and some family on development seeds; heavy clipping is best where the
noise is symmetric, little where it is skewed, because clipped residuals move the intercept.
"""

OWN = {(1.0, 0.05): BOTH, (3.0, 0.1): LINEAR, (3.0, 0.2): LOGISTIC, (3.0, 0.4): LOGISTIC, (10.0, 0.1): LINEAR}
"""Twice the steps, half the reach."""


class NoisySGD(PeerSolver):
    """DP-SGD by a library.

    Parameters
    ----------
    clip, reach : float or None
        Clip norm, and step size × clip norm ÷ √(d + 1), of rows and target that an oracle scaled. None: what a user
        would do who knows nothing: raw columns, clip norm 1, step size 0.1.
    own : bool
        Poisson batches and the library's own relation and calibration.
    tasks : tuple of str
        Tasks that the pair is tried on.
    """

    pure = False
    title: str

    def __init__(
        self, clip: float | None = None, reach: float = 0.1, own: bool = False, tasks: tuple[str, ...] = BOTH
    ) -> None:
        self.tasks = tasks
        self.oracle, self.clip, self.reach, self.own = clip is not None, clip or 1.0, reach, own
        self.relation, self.slow = "add-or-remove-one" if own else "replace-one", self.slow or own
        self.cost = 2.0 * self.cost if own else self.cost
        self.name = f"{self.title}{' tuned' if self.oracle else ', defaults'}{', own relation' if own else ''}"
        if self.oracle:
            self.variant = f"clip {clip:g} reach {reach:g}"
            self.knows = "centre and scale of every column and of the target; clip norm and step size by trial"

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        logistic = task.endswith("logistic")
        columns = scales(data.X) if self.oracle else _raw(data.X.shape[1])
        target = scales(data.y) if self.oracle and not logistic else _raw(1)
        steps, rate = (POISSON_STEPS, POISSON_RATE) if self.own else (FULL_STEPS, 1.0)
        size = self.reach * np.sqrt(data.X.shape[1] + 1.0) / self.clip if self.oracle else 0.1
        request = {
            "logistic": logistic,
            "seed": int(seed),
            "clip": self.clip,
            "rate_of_learning": float(size),
            "steps": steps,
            "rate": rate,
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "multiplier": None if self.own else full_batch_multiplier(budget.epsilon, budget.delta, steps),
        }
        rows, goal = columns.rows(data.X), target.rows(data.y[:, None])[:, 0]
        reply, results = self.ask(data, request, rows=rows, target=goal)
        epsilon = noisy_gradients_epsilon(reply["multiplier"], reply["rate"], steps, budget.delta, self.relation)
        model = columns.undo(results["coefficients"], reply["intercept"], target)
        return self.answer(reply, model, (epsilon, budget.delta))


def _raw(count: int) -> Oracle:
    return Oracle(np.zeros(count), np.ones(count))


def tuned(kind: type[NoisySGD], pairs: dict[tuple[float, float], tuple[str, ...]], own: bool = False) -> list[Solver]:
    """Return a library's variants."""
    return [kind(clip, reach, own, tasks) for (clip, reach), tasks in pairs.items()]
