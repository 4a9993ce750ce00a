"""The private null model: an intercept from the whole budget. No fit should be worse."""

import numpy as np

import tailguard as tg
from benchmarks.objective import Budget, Drawn, Fit, Refused, Solver
from tailguard.privacy import gdp_mu

__all__ = ["PrivateNull"]


class PrivateNull(Solver):
    """A private mean of the target, or the log-odds of a private share of positives (labels are public 0 and 1)."""

    name, tasks = "private null", ("linear", "logistic", "sparse", "sparse-logistic")

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        zeros = np.zeros(data.X.shape[1])
        if task.endswith("logistic"):
            return Fit(zeros, self._log_odds(data, budget, seed), (budget.epsilon, budget.delta))
        options = {"epsilon": budget.epsilon, "delta": budget.delta, "random_state": seed}
        try:
            model = tg.Mean(**options).fit(data.y[:, None])
        except tg.BudgetError as error:
            raise Refused(str(error)) from None
        return Fit(zeros, float(model.mean_[0]), (model.privacy_.epsilon, model.privacy_.delta))

    def _log_odds(self, data: Drawn, budget: Budget, seed: int) -> float:
        """Return the log-odds of the noisy share, half a record away from 0 and 1; the share's sensitivity is 1/n."""
        rng, n = np.random.default_rng([seed, 11]), len(data.y)
        noise = rng.laplace(0.0, 1.0 / budget.epsilon) if budget.pure else self._gaussian(rng, budget)
        share = np.clip((data.y.sum() + noise) / n, 0.5 / n, 1.0 - 0.5 / n)
        return float(np.log(share) - np.log1p(-share))

    def _gaussian(self, rng: np.random.Generator, budget: Budget) -> float:
        return float(rng.normal(0.0, 1.0 / gdp_mu(tg.Privacy(budget.epsilon, budget.delta))))
