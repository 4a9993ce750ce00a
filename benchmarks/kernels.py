"""How fast the kernels are: as a multiple of reading the array once on one thread, and against naive NumPy.

Run as `python -m benchmarks.kernels`, on a machine that does nothing else.
"""

import argparse
import os
import time
from functools import partial

import numpy as np

from tailguard.engines.numpy import NumpyEngine
from tailguard.losses import Squared
from tailguard.statistics import (
    Below,
    Catoni,
    Clamped,
    Clipped,
    Columns,
    Gradient,
    Gram,
    Octaves,
    Shrunken,
    Truncated,
    View,
    Weighted,
)

BITS = 40
THRESHOLD = 1.0
RADIUS = 8.0


def main():
    options = _options()
    n, d = options.n, options.d
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d) / np.sqrt(d)
    y = X @ w + rng.standard_t(2, n)
    print(f"n = {n}, d = {d}, float64, {X.nbytes / 1e9:.2f} GB; {_machine()}")
    print("Each time is the best of several runs, alternating with passes that only read the array.")
    heads = "".join(f"{f'{threads} thread(s): ms':>20}{'÷ read':>8}" for threads in options.threads)
    print(f"{'statistic':34}{'read: ms':>10}{heads}{'naive: ms':>12}{'÷ ours':>8}")
    for name, (statistic, naive) in _cases(X, y, w).items():
        _print_row(name, X, y, statistic, naive, options)


def _print_row(name, X, y, statistic, naive, options):
    kernel = statistic.kernel()
    kernel(X[:64], y[:64])  # compile
    sums = [partial(NumpyEngine(X, y, threads=threads).map_sum, kernel) for threads in options.threads]
    read, *ours = _best([X.sum, *sums], options.repeats)
    (slow,) = _best([naive], 1 if options.repeats < 3 else 2)
    cells = "".join(f"{seconds * 1e3:20.1f}{seconds / read:8.2f}" for seconds in ours)
    print(f"{name:34}{read * 1e3:10.1f}{cells}{slow * 1e3:12.0f}{slow / ours[0]:8.1f}", flush=True)


def _cases(X, y, w):
    n, d = X.shape
    field = Gradient(View(d), Squared(), w)
    moved = View(d, centre=np.full(d, 0.1), scale=np.full(d, 2.0), intercept=True)
    moved_field = Gradient(moved, Squared(), np.append(w, 0.0))
    columns = Columns(View(d))

    def gradients():
        return (X @ w - y)[:, np.newaxis] * X

    def clipped():
        G = gradients()
        return (G * np.minimum(1.0, THRESHOLD / np.linalg.norm(G, axis=1))[:, np.newaxis]).sum(axis=0)

    def clipped_moved():
        Z = np.column_stack([(X - 0.1) / 2.0, np.ones(n)])
        G = (Z[:, :-1] @ w - y)[:, np.newaxis] * Z
        return (G * np.minimum(1.0, THRESHOLD / np.linalg.norm(G, axis=1))[:, np.newaxis]).sum(axis=0)

    def weighted():
        weight = np.minimum(1.0, RADIUS / np.linalg.norm(X, axis=1)) * np.clip(X @ w - y, -2.0, 2.0)
        return (weight[:, np.newaxis] * X).sum(axis=0)

    def truncated():
        G = gradients()
        return np.where(np.abs(G) <= THRESHOLD, G, 0.0).sum(axis=0)

    def shrunken():
        return (np.clip(X @ w - y, -2.0, 2.0)[:, np.newaxis] * np.clip(X, -THRESHOLD, THRESHOLD)).sum(axis=0)

    def catoni():
        """The bounded function without the smoothing; the closed form with it takes dozens of times as long."""
        A = np.clip(gradients() / THRESHOLD, -np.sqrt(2.0), np.sqrt(2.0))
        return (A - A * A * A / 6.0).sum(axis=0)

    def octaves():
        cell = np.clip(np.floor(2 * np.log2(np.abs(X))) + 40, 0, 79).astype(np.int64)
        return np.bincount((cell + 80 * np.arange(d)).ravel(), minlength=80 * d)

    def gram():
        Z = X * np.minimum(1.0, RADIUS / np.linalg.norm(X, axis=1))[:, np.newaxis]
        return Z.T @ Z

    return {
        "clipped sum": (Clipped(field, THRESHOLD, BITS), clipped),
        "clipped sum, centred and scaled": (Clipped(moved_field, THRESHOLD, BITS), clipped_moved),
        "weighted sum": (Weighted(field, RADIUS, 2.0, BITS), weighted),
        "clamped sum": (
            Clamped(field, THRESHOLD, BITS),
            lambda: np.clip(gradients(), -THRESHOLD, THRESHOLD).sum(axis=0),
        ),
        "truncated sum": (Truncated(field, THRESHOLD, BITS), truncated),
        "shrunken sum": (Shrunken(field, THRESHOLD, 2.0, BITS), shrunken),
        "Catoni sum": (Catoni(field, THRESHOLD, BITS), catoni),
        "counts below": (Below(columns, np.zeros(d), BITS), lambda: (X <= 0.0).sum(axis=0)),
        "octave counts, two an octave": (Octaves(columns, -20, 20, 2, BITS), octaves),
        "Gram matrix": (Gram(View(d), RADIUS, BITS), gram),
    }


def _best(functions, repeats):
    """Return the shortest time of each function; they take turns, so that a busy moment hits all of them."""
    times = [[] for _ in functions]
    for _ in range(repeats):
        for function, taken in zip(functions, times, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


def _machine():
    model = "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as lines:
            model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cpus"


def _options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000, help="rows (default: one million)")
    parser.add_argument("--d", type=int, default=100, help="columns (default: 100)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="thread counts (default: 1 2)")
    parser.add_argument("--repeats", type=int, default=5, help="the best of so many runs (default: 5)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
