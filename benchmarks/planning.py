"""How long a plan, its verification and program (27) take: each against the limit that it should stay below."""

import time
from collections.abc import Callable

import numpy as np

import tailguard as tg
from tailguard.solvers.direction import estimate


def seconds(action: Callable[[], object], repetitions: int = 3) -> float:
    """Return the best of several wall-clock times, after one run that imports and compiles."""
    action()
    times = []
    for _ in range(repetitions):
        begun = time.perf_counter()
        action()
        times.append(time.perf_counter() - begun)
    return min(times)


def main() -> None:
    linear = tg.LinearRegression(epsilon=1.0, delta=1e-6)
    plan = linear.plan(10_000, 10)
    moment = tg.Moment(2.0, 1.0)
    paper = tg.LinearRegression(parameters="paper", moment=moment, radius=1.0).plan(1_000_000, 10)
    groups = np.random.default_rng(0).standard_normal((2000, 50))
    rows = (
        ("plan of a linear regression", lambda: linear.plan(10_000, 10), 0.5),
        ("verify it", lambda: tg.verify(plan), 0.5),
        (f"verify {paper.steps[0].count} gradient steps", lambda: tg.verify(paper), 0.5),
        ("program (27), d = 50, k = 2000", lambda: estimate(groups, np.ones(50)), 1.0),
    )
    print(f"{'action':36s} {'seconds':>9s} {'limit':>6s} {'÷ limit':>8s}")
    for name, action, limit in rows:
        taken = seconds(action)
        print(f"{name:36s} {taken:9.3f} {limit:6.1f} {taken / limit:8.2f}")


if __name__ == "__main__":
    main()
