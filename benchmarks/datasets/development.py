"""Tasks on which recipes may be tuned, with seeds other than those that are reported."""

from itertools import product

from benchmarks.datasets import packages
from benchmarks.datasets.linear import Linear
from benchmarks.datasets.logistic import Logistic
from benchmarks.datasets.mean import HardMean, Location
from benchmarks.datasets.sparse import Sparse
from benchmarks.datasets.wide import DESIGNS
from benchmarks.objective import Dataset

__all__ = ["SIZES", "linear", "logistic", "mean", "real", "sparse", "tasks"]

SIZES = tuple(product((10_000, 100_000), (5, 20)))
"""n and d of the tasks whose geometric means are reported."""

SPARSE = {
    "figure 7b": "features light; noise skewed",
    "figure 8 noise": "features light; noise without a mean",
    "figure 10b": "features light",
    "sparse t3": "features and noise index 3",
    "sparse lognormal": "features all moments; noise light",
    "sparse unequal scales": "features and noise light",
    "sparse AR(0.7)": "features and noise light",
}


def tasks() -> list[Dataset]:
    """Return all of them."""
    return [*linear(), *logistic(), *mean(), *sparse(), *real()]


def linear() -> list[Dataset]:
    laws = ("gaussian", "t3", "t5", "lognormal0.6", "lognormal1", "lognormal2")
    return [
        *(Linear(law, n, d) for law in laws for n, d in SIZES),
        *(Linear(law, n, d, "skewed") for law in ("gaussian", "lognormal1") for n, d in SIZES),
        Linear("gaussian", 10_000, 5, "t1.5"),
        Linear("t3", 10_000, 20, "t1.5"),
        Linear("t3", 10_000, 20, label="t3 correlated 0.9", correlation=0.9),
        Linear("t3", 10_000, 20, label="t3 far off", location=1000.0),
        Linear("lognormal1", 10_000, 20, label="lognormal1 scales 1e±6", decades=6.0),
    ]


def logistic() -> list[Dataset]:
    laws = ("gaussian", "t3", "t5", "lognormal1")
    return [
        *(Logistic(law, n, d) for law in laws for n, d in SIZES),
        Logistic("lognormal2", 10_000, 5),
        Logistic("t3", 10_000, 20, label="t3 correlated 0.9", correlation=0.9),
        Logistic("t3", 10_000, 20, label="t3 far off", location=1000.0),
        Logistic("lognormal1", 10_000, 20, label="lognormal1 scales 1e±6", decades=6.0),
        Logistic("t3", 10_000, 20, label="t3 with 3% positives", positives=0.03),
    ]


def mean() -> list[Dataset]:
    laws = ("gaussian", "t3", "t5", "lognormal0.6", "lognormal1", "lognormal2")
    return [
        *(Location(law, 10_000, 10) for law in laws),
        Location("t3", 10_000, 1),
        Location("t3", 100_000, 100),
        Location("t3", 10_000, 10, label="t3 far off", location=1e6),
        Location("lognormal1", 10_000, 10, label="lognormal1 scales 1e±6", decades=6.0),
        HardMean(2.0, 10_000, 10),
        HardMean(1.5, 10_000, 10),
    ]


def sparse() -> list[Dataset]:
    return [Sparse(design, SPARSE[design.name]) for design in DESIGNS if design.name in SPARSE]


def real() -> list[Dataset]:
    return [*packages.development()]
