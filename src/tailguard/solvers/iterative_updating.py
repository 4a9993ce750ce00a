"""The mean oracle of Zhao et al. 2024, Algorithm 3: noisy group means, then an iteration on them."""

from dataclasses import dataclass

import numpy as np

from tailguard.solvers.base import FloatVector, Released
from tailguard.solvers.iterative_mean import iterative_mean
from tailguard.solvers.oracles import MeanOracle
from tailguard.statistics.base import Statistic, block_size
from tailguard.statistics.fields import Field
from tailguard.statistics.groups import ClippedGroups

__all__ = ["IterativeUpdating"]


@dataclass(frozen=True)
class IterativeUpdating(MeanOracle):
    """Noisy clipped group means, then the iteration of Zhao et al. 2024, Algorithm 3, from 0."""

    groups: int
    iterations: int

    def statistic(self, field: Field, bits: int) -> Statistic:
        """Return what to ask for."""
        return ClippedGroups(field, self.threshold, self.groups, bits)

    def mean(self, reply: Released, size: int) -> FloatVector:
        """Return the mean over a block of `size` records."""
        sizes = np.array([block_size(size, group, self.groups) for group in range(self.groups)])
        means = reply.value.reshape(self.groups, -1) / sizes[:, np.newaxis]
        return iterative_mean(means, np.zeros(means.shape[1]), self.iterations)
