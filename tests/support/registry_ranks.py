"""Every histogram whose distances in ranks the suite of ranks is run on."""

from dataclasses import replace

import numpy as np

from tailguard.losses import Squared
from tailguard.statistics import Columns, Gradient, Halves, Norm, Octaves, Ranks, Rows, SignedRanks, Slope, Target, View

VIEW = View(2, centre=[0.0, 1.0], scale=[1.0, 2.0])
SLOPED = Gradient(VIEW, Squared(), np.array([0.3, -0.2]))

RANKED = [
    Ranks(Octaves(scalars, low, high, substeps, 20), level, size)
    for scalars in (Target(VIEW), Slope(SLOPED), Norm(Rows(VIEW)))
    for low, high, substeps in ((-3, 3, 2), (-64, 64, 2), (0, 3, 1))
    for level, size in ((0.5, 6), (0.9, 6), (0.0, 3), (1.0, 40))
]
RANKED += [
    Ranks(Octaves(scalars, -64, 64, 2, 20), 0.5, size, rare)
    for scalars in (Target(VIEW), Norm(Rows(VIEW)))
    for rare, size in ((1, 6), (2, 6), (1, 3), (8, 40))
]
RANKED += [
    Ranks(Octaves(scalars, -64, 64, 2, 20), 0.5, size, 3, near, pull)
    for scalars in (Target(VIEW), Norm(Rows(VIEW)))
    for near, pull, size in ((1.0, 0.3, 6), (1e6, 2.0, 6), (1e-120, 40.0, 40))
]
RANKED += [
    Ranks(Octaves(scalars, -64, 64, 2, 20), 0.5, size, 3, 1.0, pull, missing=True)
    for scalars in (Target(VIEW), Norm(Rows(VIEW)))
    for pull, size in ((0.0, 6), (0.0, 40), (0.3, 3))
]
RANKED += [
    SignedRanks(Octaves(Halves(scalars), low, high, substeps, 20), level, size)
    for scalars in (Target(VIEW), Slope(SLOPED))
    for low, high, substeps in ((-3, 3, 2), (-64, 64, 64), (0, 2, 1))
    for level, size in ((0.5, 6), (0.9, 6), (0.0, 3), (1.0, 40))
]
RANKED += [
    SignedRanks(Octaves(Halves(scalars), low, high, 4, 20), 0.5, size, prior)
    for scalars in (Target(VIEW), Columns(replace(VIEW, columns=[1])))
    for low, high in ((-3, 3), (-64, 64))
    for size, prior in ((6, 0.36 * 6), (6, 6.0), (40, 1e-3))
]
