"""Tasks on which nothing was ever chosen: other families, other dependence, other tables, other seeds."""

from benchmarks.datasets import packages
from benchmarks.datasets.development import SIZES
from benchmarks.datasets.linear import Linear
from benchmarks.datasets.logistic import Logistic
from benchmarks.datasets.mean import Location
from benchmarks.datasets.sparse import Sparse
from benchmarks.datasets.wide import HELD_OUT
from benchmarks.objective import Dataset

__all__ = ["linear", "logistic", "mean", "real", "sparse", "tasks"]


def tasks() -> list[Dataset]:
    """Return all of them."""
    return [*linear(), *logistic(), *mean(), *sparse(), *real()]


def linear() -> list[Dataset]:
    return [
        *(Linear(law, n, d, held_out=True) for law in ("pareto2.5", "weibull0.6") for n, d in SIZES),
        *(Linear("weibull0.6", n, d, "skewed", held_out=True) for n, d in SIZES),
        Linear("elliptical t3", 10_000, 20, held_out=True),
        Linear("log-logistic3", 10_000, 20, held_out=True),
        Linear("zero-inflated", 10_000, 20, "log-logistic3", held_out=True),
    ]


def logistic() -> list[Dataset]:
    return [
        *(Logistic(law, n, d, held_out=True) for law in ("pareto2.5", "weibull0.6") for n, d in SIZES),
        Logistic("elliptical t3", 10_000, 20, held_out=True),
        Logistic("log-logistic3", 10_000, 20, held_out=True),
        Logistic("zero-inflated", 10_000, 20, held_out=True),
        Logistic("weibull0.6", 10_000, 20, label="weibull0.6 with 5% positives", positives=0.05, held_out=True),
    ]


def mean() -> list[Dataset]:
    laws = ("pareto2.5", "weibull0.6", "zero-inflated", "log-logistic3")
    return [*(Location(law, 10_000, 10, held_out=True) for law in laws)]


def sparse() -> list[Dataset]:
    tail = "features all moments; noise index 2.5"
    return [Sparse(design, tail, held_out=True) for design in HELD_OUT if design.sparsity is not None]


def real() -> list[Dataset]:
    return [*packages.held_out()]
