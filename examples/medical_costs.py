"""The whole road in Python: plan, verify, fit, report, audit. The data are synthetic."""

from pathlib import Path

import numpy as np

import tailguard as tg
from tailguard.cli.costs import NAMES, TARGET, synthetic_costs


def main() -> None:
    costs = synthetic_costs(20_000)
    model = tg.LinearRegression(epsilon=1.0, delta=1e-6)

    # Before any data: what will be done, and what it costs.
    plan = model.plan(n_rows=20_000, n_features=len(NAMES))
    print(tg.report.summary(plan))

    # The fit, with noise from a cryptographic generator.
    model.fit(costs.X, costs.y)
    for name, value in zip(NAMES, model.coef_, strict=True):
        print(f"{name:12s} {value:10.4g}")
    assert tg.verify(model.plan_) == model.privacy_

    # What may be published.
    page = Path("out") / "medical-costs.html"
    page.parent.mkdir(exist_ok=True)
    page.write_text(tg.report.html(model.release_, names=NAMES, target=TARGET), encoding="utf-8")

    # One person becomes a monster: no statistic moves by more than it declared.
    other = costs.X.copy()
    other[0] = np.nan, 1e308, -np.inf, 0.0, 1e-300, 1e300
    replay = tg.audit.replay(tg.LinearRegression(epsilon=1.0), (costs.X, costs.y), (other, costs.y))
    print(f"largest change as a share of its bound: {max(replay.by_step.values()):.2f}, kept: {replay.holds}")


if __name__ == "__main__":
    main()
