"""Every statistic of groups that the contract suite of groups is run on."""

import numpy as np

from tailguard.losses import Squared
from tailguard.statistics import Gradient, Rows, View
from tailguard.statistics.groups import ClippedGroups, ClippedMedian, TruncatedMedian

VIEW = View(3, centre=[0.0, 1.0, -1.0], scale=[1.0, 2.0, 0.5])
SLOPED = Gradient(VIEW, Squared(), np.array([0.3, -0.2, 0.1]))

GROUPED = [
    kind(field, threshold, groups, 30)
    for kind in (ClippedGroups, ClippedMedian, TruncatedMedian)
    for field, threshold in ((Rows(View(1)), 1.5), (Rows(VIEW), 2.0), (SLOPED, 0.7))
    for groups in (1, 2, 3, 7)
]
