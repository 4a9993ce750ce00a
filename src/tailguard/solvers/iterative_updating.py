"""The mean oracle of Zhao et al. 2024, Algorithm 3: noisy group means, then an iteration on them."""

from dataclasses import dataclass
from typing import ClassVar

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

    kind: ClassVar[type[Statistic]] = ClippedGroups
    groups: int = 20
    iterations: int = 20

    @property
    def fewest(self) -> int:
        """How many records it takes at least: one a group."""
        return self.groups

    def dimension(self, k: int) -> int:
        """Return the length of what is released for a field of dimension k."""
        return self.groups * k

    def noise(self, k: int) -> float:
        """Return the noise of a mean in k dimensions: that of the average of `groups` noisy means."""
        return float(np.sqrt(self.groups) * k)

    def statistic(self, field: Field, bits: int) -> Statistic:
        """Return what to ask for."""
        return ClippedGroups(field, self.threshold, self.groups, bits)

    def mean(self, reply: Released, size: int) -> FloatVector:
        """Return the mean over a block of `size` records."""
        sizes = np.array([block_size(size, group, self.groups) for group in range(self.groups)])
        means = reply.value.reshape(self.groups, -1) / sizes[:, np.newaxis]
        return iterative_mean(np.asarray(means), np.zeros(means.shape[1]), self.iterations)
