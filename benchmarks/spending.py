"""What the papers' formulas really spend: the recomputed ε of each `paper` plan, as a share of the ε that was asked.

Run as `python -m benchmarks.spending`. No data and no randomness: the table is a function of public numbers.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import tailguard as tg
from tailguard.domains import L1Ball, Sparse
from tailguard.losses import Biweight, Squared
from tailguard.plans import Plan, Problem
from tailguard.recipes import recipe

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
N, D = 100_000, 10
WIDE, FEW = 400, 5
BUDGETS = tuple((epsilon, delta) for delta in (1e-5, 1e-6) for epsilon in (0.1, 0.5, 1.0))
COORDINATE, DIRECTION = tg.Moment(1.5, 1.0, "coordinate"), tg.Moment(2.0, 1.0, "direction")

Planner = Callable[[tg.Privacy], Plan]
Cases = tuple[tuple[str, int, Planner], ...]


def _few(estimator: type[tg.Mean | tg.LinearRegression], d: int = D, **facts: object) -> tuple[int, Planner]:
    """Return the paper's plan for few columns."""
    make = partial(estimator, parameters="paper", **facts)
    return d, lambda privacy: make(epsilon=privacy.epsilon, delta=privacy.delta).plan(N, d)


def _many(method: str, loss: Squared | Biweight, domain: L1Ball | Sparse, order: float) -> tuple[int, Planner]:
    """Return the paper's plan for a regression with many columns and γ = μ = 1."""
    problem = Problem(loss, domain, N, WIDE, moment=tg.Moment(order, 1.0, "coordinate"), strong_convexity=1.0)
    return WIDE, lambda privacy: recipe(method).plan("regression", problem, privacy, "paper")


_linear = partial(_few, tg.LinearRegression, radius=1.0, fit_intercept=False)
BALL, SPARSE = L1Ball(WIDE, radius=1.0), Sparse(WIDE, sparsity=FEW, radius=1.0)

CASES: Cases = (
    (
        "`truncated_mean`, mean (Tao, Algorithm 1)",
        *_few(tg.Mean, 1, method="truncated_mean", moment=COORDINATE),
    ),
    ("`median_of_means`, mean (Tao, Algorithm 3)", *_few(tg.Mean, method="median_of_means", moment=COORDINATE)),
    (
        "`median_of_means`, convex (Tao, Algorithm 2, Theorem 6)",
        *_linear(method="median_of_means", moment=COORDINATE),
    ),
    (
        "`median_of_means`, strongly convex (Tao, Algorithm 2, Theorem 7)",
        *_linear(method="median_of_means", moment=COORDINATE, strong_convexity=0.5),
    ),
    ("`clipping`, mean (Zhao, Algorithm 2)", *_few(tg.Mean, method="clipping", moment=DIRECTION)),
    ("`clipping`, convex (Zhao, Algorithm 1)", *_linear(method="clipping", moment=DIRECTION)),
    ("`iterative_updating`, mean (Zhao, Algorithm 3)", *_few(tg.Mean, method="iterative_updating", moment=DIRECTION)),
    (
        "`iterative_updating`, convex (Zhao, Algorithms 1 and 3)",
        *_linear(method="iterative_updating", moment=DIRECTION),
    ),
)

WIDE_CASES: Cases = (
    ("`frank_wolfe`, convex (Hu, Algorithm 1, Theorem 2)", *_many("frank_wolfe", Squared(), BALL, 2.0)),
    ("`frank_wolfe`, biweight (Hu, Algorithm 1, Theorem 3)", *_many("frank_wolfe", Biweight(1.0), BALL, 2.0)),
    ("`shrunken_lasso` (Hu, Algorithm 2)", *_many("shrunken_lasso", Squared(), BALL, 4.0)),
    ("`shrunken_thresholding` (Hu, Algorithm 3)", *_many("shrunken_thresholding", Squared(), SPARSE, 4.0)),
    ("`catoni_thresholding` (Hu, Algorithm 5)", *_many("catoni_thresholding", Squared(), SPARSE, 2.0)),
    ("`truncated_thresholding` (Tao, Algorithm 5)", *_many("truncated_thresholding", Squared(), SPARSE, 2.0)),
)

TABLES = {RESULTS / "spending.md": CASES, RESULTS / "spending-wide.md": WIDE_CASES}


def spent(planner: Planner, epsilon: float, delta: float) -> str:
    """Return the recomputed ε ÷ the asked one, and the number of releases where there are several."""
    try:
        plan = planner(tg.Privacy(epsilon, delta))
    except tg.TailguardError:
        return "refused"
    releases = sum(step.count for step in plan.steps)
    share = f"{tg.verify(plan).epsilon / epsilon:.2f}"
    return share if releases == 1 else f"{share} ({releases} steps)"


def table(cases: Cases = CASES) -> str:
    """Return the Markdown table."""
    heads = [
        "`paper` recipe",
        "d",
        *(f"ε = {epsilon:g}, δ = {delta:.0e}".replace("e-0", "e-") for epsilon, delta in BUDGETS),
    ]
    rows = [[name, str(d), *(spent(planner, *budget) for budget in BUDGETS)] for name, d, planner in cases]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [heads, ["---"] * len(heads), *rows]) + "\n"


def main() -> None:
    RESULTS.mkdir(exist_ok=True)
    print(f"Recomputed ε ÷ asked ε, n = {N}, M = 1, order 1.5 (Tao) or 2 (Zhao);")
    print(f"with many columns order 2 or 4, γ = μ = 1, radius 1, s* = {FEW}.\n")
    for path, cases in TABLES.items():
        found = table(cases)
        print(found)
        path.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
