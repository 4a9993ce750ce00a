"""What the papers' formulas really spend: the recomputed ε of each `paper` plan, as a share of the ε that was asked.

Run as `python -m benchmarks.spending`. No data and no randomness: the table is a function of public numbers.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import tailguard as tg

TABLE = Path(__file__).resolve().parent.parent / "docs" / "results" / "spending.md"
N, D = 100_000, 10
BUDGETS = tuple((epsilon, delta) for delta in (1e-5, 1e-6) for epsilon in (0.1, 0.5, 1.0))
COORDINATE, DIRECTION = tg.Moment(1.5, 1.0, "coordinate"), tg.Moment(2.0, 1.0, "direction")

_mean = partial(tg.Mean, parameters="paper")
_linear = partial(tg.LinearRegression, parameters="paper", radius=1.0, fit_intercept=False)

CASES: tuple[tuple[str, Callable[..., tg.Mean | tg.LinearRegression], int], ...] = (
    ("`truncated_mean`, mean (Tao, Algorithm 1)", partial(_mean, method="truncated_mean", moment=COORDINATE), 1),
    ("`median_of_means`, mean (Tao, Algorithm 3)", partial(_mean, method="median_of_means", moment=COORDINATE), D),
    (
        "`median_of_means`, convex (Tao, Algorithm 2, Theorem 6)",
        partial(_linear, method="median_of_means", moment=COORDINATE),
        D,
    ),
    (
        "`median_of_means`, strongly convex (Tao, Algorithm 2, Theorem 7)",
        partial(_linear, method="median_of_means", moment=COORDINATE, strong_convexity=0.5),
        D,
    ),
    ("`clipping`, mean (Zhao, Algorithm 2)", partial(_mean, method="clipping", moment=DIRECTION), D),
    ("`clipping`, convex (Zhao, Algorithm 1)", partial(_linear, method="clipping", moment=DIRECTION), D),
    (
        "`iterative_updating`, mean (Zhao, Algorithm 3)",
        partial(_mean, method="iterative_updating", moment=DIRECTION),
        D,
    ),
    (
        "`iterative_updating`, convex (Zhao, Algorithms 1 and 3)",
        partial(_linear, method="iterative_updating", moment=DIRECTION),
        D,
    ),
)


def spent(make: Callable[..., tg.Mean | tg.LinearRegression], d: int, epsilon: float, delta: float) -> str:
    """Return the recomputed ε ÷ the asked one, and the number of releases where there are several."""
    try:
        plan = make(epsilon=epsilon, delta=delta).plan(N, d)
    except tg.TailguardError:
        return "refused"
    releases = sum(step.count for step in plan.steps)
    share = f"{tg.verify(plan).epsilon / epsilon:.2f}"
    return share if releases == 1 else f"{share} ({releases} steps)"


def table() -> str:
    """Return the Markdown table."""
    heads = [
        "`paper` recipe",
        "d",
        *(f"ε = {epsilon:g}, δ = {delta:.0e}".replace("e-0", "e-") for epsilon, delta in BUDGETS),
    ]
    rows = [[name, str(d), *(spent(make, d, *budget) for budget in BUDGETS)] for name, make, d in CASES]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [heads, ["---"] * len(heads), *rows]) + "\n"


def main() -> None:
    found = table()
    print(f"Recomputed ε ÷ asked ε, n = {N}, M = 1, order 1.5 (Tao) or 2 (Zhao).\n\n{found}")
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
