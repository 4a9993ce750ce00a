import tailguard as tg
from benchmarks.objective import Drawn, Fit, Solver


class Tailguard(Solver):
    """The default estimators; simulated noise, so that a seed repeats a figure."""

    private = True
    tasks = ("mean", "linear", "logistic")

    def __init__(self, method: str = "auto") -> None:
        self.method = method
        self.name = "tailguard" if method == "auto" else f"tailguard {method}"

    def fit(self, task: str, data: Drawn, epsilon: float, delta: float, seed: int) -> Fit:
        budget = {"epsilon": epsilon, "delta": delta, "method": self.method, "random_state": seed}
        if task == "mean":
            return Fit(tg.Mean(**budget).fit(data.X).mean_)
        model = tg.LinearRegression(**budget) if task == "linear" else tg.LogisticRegression(**budget)
        model.fit(data.X, data.y)
        return Fit(model.coef_, model.intercept_)
