"""`make bench-rates`: exponents of the error in n on the hard instances of the papers, beside the theorems'.

The instances are those of the lower bounds: 0, or with probability q = c·D/(nε) a spike so high that the moment
assumption holds with equality (Tao et al. 2022, Lemmas 16 and 21; D = 1 for one column, else min(d, √(d·ln(1/δ)))).
c = 1 is the proof's: about 1/ε records carry the whole mean, a threshold of the theorems is below the spike, so the
error is the whole mean (bias) plus the noise, both of the order (nε)^−κ. Other c move the spike across the threshold;
"worst q" is the largest median over c, what a bound for all distributions has to cover. On a fixed distribution the
error falls faster, and its slope says nothing about the theorem.

Sparse means have the spikes of Hu et al. 2022, Theorem 9, and of Tao et al. 2022, Theorem 11: D = s·ln d. Measured is
the excess risk, half of the squared error. Sizes begin where the largest noise of a step is below the threshold: beyond
it truncation hides the gradient at the noisy point, the assumption of the theorems fails and steps no longer contract.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import tailguard as tg
from benchmarks import heavy
from benchmarks.slope import Curve, sweep
from tailguard import engines
from tailguard.domains import Sparse
from tailguard.losses import SquaredDistance
from tailguard.plans import Problem
from tailguard.recipes import recipe
from tailguard.run import make_randomness, run
from tailguard.theory import Packing, Rate, Setting, rates

DOCS = Path(__file__).resolve().parent.parent / "docs"
SIZES = tuple(round(10**power) for power in (3.5, 4.0, 4.5, 5.0, 5.5))
EPSILON, DELTA = 0.5, 1e-6
SHIFTS = (1.0, 8.0, 30.0)
TOLERANCE = 0.08


@dataclass(frozen=True)
class Case:
    """A recipe with the moment it is told and the theorem that it is held against."""

    method: str
    parameters: str
    order: float
    d: int
    rate: str
    of: str
    seeds: int
    shifts: tuple[float, ...] = SHIFTS
    sizes: tuple[int, ...] = SIZES

    @property
    def theorem(self) -> Rate:
        return next(rate for rate in rates() if rate.name == self.rate)

    @property
    def exponent(self) -> float:
        """The theorem's exponent of n, −κ."""
        return self.theorem.exponent_n(self.order)

    @property
    def start(self) -> int:
        """Seeds that no other case has."""
        return 1_000_000 + 10_000 * CASES.index(self)

    def instance(self, n: int, shift: float) -> Packing:
        """Return the instance with `shift` times the proof's q; half of several coordinates have a spike."""
        setting = Setting(n, self.d, EPSILON, DELTA, self.order)
        hardest = Packing.hardest(setting, (1, 0) * (self.d // 2) or (1,), self.of)
        return Packing(hardest.codeword, shift * hardest.probability, self.order, 1.0, self.of)

    def error(self, n: int, seed: int, shift: float) -> float:
        instance = self.instance(n, shift)
        X = instance.sample(n, np.random.default_rng([seed, n]))
        moment = tg.Moment(self.order, 1.0 if self.parameters == "paper" else None, self.of)
        budget = {"epsilon": EPSILON, "delta": DELTA, "moment": moment, "random_state": seed}
        model = tg.Mean(method=self.method, parameters=self.parameters, **budget).fit(X)
        return float(np.linalg.norm(model.mean_ - instance.mean))

    def curves(self) -> Iterator[tuple[str, Curve]]:
        """Yield the curve of the proof's q, and of the worst q."""
        found = [
            sweep(lambda n, seed, c=shift: self.error(n, seed, c), self.sizes, self.seeds, self.start)
            for shift in self.shifts
        ]
        yield "proof's q", found[0]
        if len(found) > 1:
            worst = np.argmax([curve.medians for curve in found], axis=0)
            yield "worst q", Curve(self.sizes, np.array([found[c].errors[row] for row, c in enumerate(worst)]))


@dataclass(frozen=True)
class SparseCase(Case):
    """A recipe for sparse means, the first of d coordinates with a spike."""

    shifts: tuple[float, ...] = (1.0,)
    sizes: tuple[int, ...] = tuple(round(10**power) for power in (5.0, 5.5, 6.0))

    @property
    def exponent(self) -> float:
        """The slope of the theorem's own formula, whose ln n and ln d cannot be left out at these sizes."""
        risks = [self.theorem(Setting(n, self.d, EPSILON, DELTA, self.order)) for n in (self.sizes[0], self.sizes[-1])]
        return float(np.log(risks[1] / risks[0]) / np.log(self.sizes[-1] / self.sizes[0]))

    def instance(self, n: int, shift: float) -> Packing:
        setting, word = Setting(n, self.d, EPSILON, DELTA, self.order), (1,) + (0,) * (self.d - 1)
        return Packing(word, shift * Packing.hardest_sparse(setting, word).probability, self.order)

    def error(self, n: int, seed: int, shift: float) -> float:
        instance = self.instance(n, shift)
        spikes = Packing((1,), instance.probability, self.order).sample(n, np.random.default_rng([seed, n]))
        X = csr_array(spikes)
        X.resize((n, self.d))
        problem = Problem(
            SquaredDistance(), Sparse(self.d, sparsity=1), n, self.d, moment=tg.Moment(self.order, 1.0, self.of)
        )
        plan = recipe(self.method).plan("mean", problem, tg.Privacy(EPSILON, DELTA), self.parameters)
        estimate = run(plan, engines.open(X), make_randomness(seed)).estimate
        return float(0.5 * np.sum((estimate.coefficients - instance.mean) ** 2))


CASES = (
    *(Case("truncated_mean", "paper", order, 1, "truncated mean", "coordinate", 200) for order in (1.5, 2.0)),
    *(Case("truncated_mean", "practical", order, 1, "truncated mean", "coordinate", 20) for order in (1.5, 2.0)),
    *(Case("clipping", "paper", order, 1, "clipped mean", "direction", 200) for order in (2.0, 4.0)),
    *(Case("clipping", "paper", order, 10, "clipped mean", "direction", 50) for order in (2.0, 4.0)),
    Case("median_of_means", "paper", 1.5, 1, "median of means", "coordinate", 300, (1.0,)),
    Case("median_of_means", "paper", 1.5, 10, "median of means", "coordinate", 50, (1.0,)),
    Case("iterative_updating", "paper", 2.0, 1, "iterated mean, disjoint groups", "direction", 20, (1.0,)),
    *(
        SparseCase("truncated_thresholding", "paper", order, 80, "truncated thresholding", "coordinate", 100)
        for order in (1.5, 2.0)
    ),
    SparseCase("catoni_thresholding", "paper", 2.0, 80, "Catoni thresholding", "coordinate", 100),
)


def measure() -> Iterator[tuple[Case, str, Curve]]:
    for case in CASES:
        for name, curve in case.curves():
            yield case, name, curve


def row(case: Case, name: str, curve: Curve) -> list[str]:
    off = abs(curve.slope - case.exponent)
    return [
        f"`{case.method}` ({case.parameters})",
        f"{case.order:g}",
        f"{case.d}",
        name,
        f"{case.exponent:.3f}",
        f"{curve.slope:.3f} ± {curve.standard_error:.3f}",
        f"{curve.medians[-1]:.3g}",
        "yes" if off <= TOLERANCE else "no",
    ]


HEADS = ["recipe", "p", "d", "instance", "theorem", "fitted", "median error, largest n", "ok"]


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines).replace("-0.", "−0.") + "\n"


def write_csv(measured: list[tuple[Case, str, Curve]]) -> None:
    with open(DOCS / "results" / "rates.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["method", "parameters", "order", "d", "instance", "n", "median", "seeds", "theorem"])
        for case, name, curve in measured:
            facts = [case.method, case.parameters, case.order, case.d, name]
            for n, median in zip(curve.sizes, curve.medians, strict=True):
                out.writerow([*facts, n, f"{median:.6g}", case.seeds, f"{case.exponent:.6g}"])


def draw(measured: list[tuple[Case, str, Curve]], heavy_curves: list[tuple[str, Curve]]) -> None:
    """Plot medians, with a dashed line of the theorem's slope through the first point of each curve."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "tailguard", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(13, 6.0), layout="constrained")
    for case, name, curve in measured:
        zhao = case.method in ("clipping", "iterative_updating")
        label = f"{case.method}, {case.parameters}, p = {case.order:g}, d = {case.d}"
        if name == "proof's q" and not isinstance(case, SparseCase):
            (line,) = panels[int(zhao)].loglog(curve.sizes, curve.medians, "o-", label=label)
            guide = curve.medians[0] * (np.array(curve.sizes) / curve.sizes[0]) ** case.exponent
            panels[int(zhao)].loglog(curve.sizes, guide, "--", color=line.get_color(), alpha=0.6)
    for label, curve in heavy_curves:
        panels[2].loglog(curve.sizes, curve.medians, "o--" if "non-private" in label else "o-", label=label)
    titles = ("Tao et al. 2022, hard instances", "Zhao et al. 2024, hard instances", "t1.5: no second moment, ε = 1")
    for panel, title in zip(panels, titles, strict=True):
        panel.set(title=title, xlabel="n", ylabel="median error")
        panel.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    (DOCS / "images").mkdir(exist_ok=True)
    figure.savefig(DOCS / "images" / "rates.svg", metadata={"Date": None})


def main() -> None:
    (DOCS / "results").mkdir(exist_ok=True)
    print(f"Hard instances: fitted exponent of the median error in n, ε = {EPSILON:g}, δ = {DELTA:g}, M = 1.")
    print("|fitted − theorem| ≤ 0.08 is ok. Seeds from 1000000.\n")
    measured = []
    for found in measure():
        measured.append(found)
        print("  ".join(row(*found)), flush=True)
    table = markdown(HEADS, [row(*found) for found in measured])
    (DOCS / "results" / "rates.md").write_text(table, encoding="utf-8")
    write_csv(measured)
    print("\nWithout a second moment: t1.5, ε = 1, δ = 1e-6.\n")
    curves = heavy.measure()
    table = markdown(heavy.HEADS, heavy.rows(curves))
    print(table)
    (DOCS / "results" / "heavy.md").write_text(table, encoding="utf-8")
    draw(measured, curves)


if __name__ == "__main__":
    main()
