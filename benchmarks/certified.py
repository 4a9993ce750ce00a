"""How long certified minimisers take, and how near they are: losses, dimensions, domains and hostile records.

Run as `python -m benchmarks.certified`. Times are processor seconds of one thread, the records' preparation included;
the bound is the certified distance in units of clip/(ridge·m), of which a hundredth is asked.
"""

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from tailguard.certified import Objective
from tailguard.certified.minimise import newton
from tailguard.domains import L2Ball
from tailguard.losses import Absolute, Hinge, Huber, Logistic, Squared

CLIP = 5.0
TOLERANCE = 0.01
LOSSES = (Squared(), Huber(1.0), Logistic(), Absolute(0.05), Hinge(0.1))


def main():
    m = _options().m
    print(f"m = {m}, one thread, tolerance {TOLERANCE} clip/(ridge m); bound: certified, in the same unit")
    print(f"{'d':>4} {'domain':8} {'records':18}" + "".join(f"{loss.name:>11}: s   bound" for loss in LOSSES))
    for d in (20, 100):
        for radius in (None, 0.5):
            for far in (False, True):
                cells = [_cell(m, d, radius, far, loss) for loss in LOSSES]
                kind = "1 % at 1e12" if far else "Student, 2.5 dof"
                print(f"{d:4} {'ball' if radius else 'space':8} {kind:18}" + "".join(cells), flush=True)


def _cell(m, d, radius, far, loss):
    X, y = _records(m, d, far, loss.name in ("logistic", "hinge"))
    ridge = 200.0 * CLIP * d / (6.0 * m)
    unit = CLIP / (ridge * m)
    begun = time.process_time()
    with threadpool_limits(1), np.errstate(all="ignore"):
        objective = Objective(X, y, loss, CLIP, ridge, np.zeros(d), m)
        _, bound = newton(objective, TOLERANCE * unit, None if radius is None else L2Ball(d, radius))
    return f"{time.process_time() - begun:14.2f} {bound / unit:7.1e}"


def _records(m, d, far, labels):
    rng = np.random.default_rng(0)
    X = rng.standard_t(2.5, (m, d))
    y = X @ (rng.standard_normal(d) / np.sqrt(d)) + rng.standard_t(2.5, m)
    y = (y > 0).astype(float) if labels else y
    X[rng.random(m) < (0.01 if far else 0.0)] *= 1e12
    return X, y


def _options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-m", type=int, default=100_000, help="number of records")
    return parser.parse_args()


if __name__ == "__main__":
    main()
