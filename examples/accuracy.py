"""What privacy costs: error against the number of rows, on heavy-tailed data. Draws docs/images/accuracy.svg.

Features and noise have Student's law with three degrees of freedom, so that fourth moments are infinite; columns have
scales from 0.01 to 1000. Nothing is told to the fits. Private fits are simulations from seeds, which follow the same
law as private ones.

    python examples/accuracy.py            # about five minutes on two cores
    python examples/accuracy.py --quick    # a few seconds, coarse
"""

import argparse
from pathlib import Path

import numpy as np

import tailguard as tg

FEATURES = 10
SIZES = (5_000, 10_000, 30_000, 100_000, 300_000)
BUDGETS = (0.5, 1.0, 2.0)
SEEDS = range(100, 115)
IMAGE = Path(__file__).parent.parent / "docs" / "images" / "accuracy.svg"


def sample(n, seed):
    """Return X, y, the true coefficients and the scales of the columns."""
    rng = np.random.default_rng(seed)
    scales = np.geomspace(0.01, 1000.0, FEATURES)
    truth = rng.choice([-1.0, 1.0], FEATURES) / np.sqrt(3.0 * FEATURES) / scales
    X = rng.standard_t(3, (n, FEATURES)) * scales
    return X, X @ truth + rng.standard_t(3, n) / np.sqrt(3.0) + 5.0, truth, scales


def excess(coefficients, intercept, truth, scales):
    """Return the excess risk; the null model's is 1."""
    return 3.0 * np.sum(((coefficients - truth) * scales) ** 2) + (intercept - 5.0) ** 2


def errors(n, epsilon, seeds):
    """Return the excess risk of each seed; an epsilon of None is least squares without privacy."""
    found = []
    for seed in seeds:
        X, y, truth, scales = sample(n, seed)
        if epsilon is None:
            *coefficients, intercept = np.linalg.lstsq(np.column_stack([X, np.ones(n)]), y, rcond=None)[0]
        else:
            model = tg.LinearRegression(epsilon=epsilon, delta=1e-6, random_state=seed).fit(X, y)
            coefficients, intercept = model.coef_, model.intercept_
        found.append(excess(np.asarray(coefficients), intercept, truth, scales))
    return np.quantile(found, [0.25, 0.5, 0.75])


def draw(curves, sizes, path):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "tailguard", "svg.fonttype": "none", "font.size": 11})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")
    colours = {0.5: "#c2620c", 1.0: "#16704a", 2.0: "#1f5fa8", None: "#5a6475"}
    for epsilon, curve in curves.items():
        low, middle, high = np.transpose(curve)
        name = "least squares, not private" if epsilon is None else f"private, ε = {epsilon:g}"
        style = {"color": colours[epsilon], "linestyle": "--" if epsilon is None else "-"}
        axes.loglog(sizes, middle, marker="o", markersize=4, label=name, **style)
        axes.fill_between(sizes, low, high, color=colours[epsilon], alpha=0.15, linewidth=0)
    axes.axhline(1.0, color="#a3161c", linewidth=1, linestyle=":", label="null model")
    axes.set(xlabel="rows", ylabel="excess risk (null model = 1)", title="Linear regression, 10 heavy-tailed features")
    axes.grid(which="major", alpha=0.25)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows and seeds")
    parser.add_argument("--image", type=Path, default=IMAGE, help="where to draw")
    options = parser.parse_args()
    sizes, seeds = (SIZES[:2], SEEDS[:2]) if options.quick else (SIZES, SEEDS)
    curves = {epsilon: [errors(n, epsilon, seeds) for n in sizes] for epsilon in (*BUDGETS, None)}
    print(f"Median excess risk over seeds {seeds[0]} to {seeds[-1]}; the null model has 1.")
    print("rows".rjust(24) + "".join(f"{n:>10}" for n in sizes))
    for epsilon, curve in curves.items():
        name = "not private" if epsilon is None else f"private, epsilon {epsilon:g}"
        print(name.rjust(24) + "".join(f"{middle:10.2g}" for _, middle, _ in curve))
    draw(curves, sizes, options.image)


if __name__ == "__main__":
    main()
