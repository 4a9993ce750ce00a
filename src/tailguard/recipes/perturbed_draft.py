"""A step of objective perturbation whose noise is not known yet."""

from dataclasses import dataclass, field

from tailguard.mechanisms import Mechanism, ObjectivePerturbation
from tailguard.recipes.draft import Draft

__all__ = ["PerturbedDraft"]


@dataclass(frozen=True)
class PerturbedDraft(Draft):
    """A `Draft` of a perturbed minimiser.

    Parameters
    ----------
    mechanism : ObjectivePerturbation
        How its share is divided.
    """

    mechanism: ObjectivePerturbation = field(default_factory=ObjectivePerturbation)

    def _mechanism(self, pure: bool) -> Mechanism:  # noqa: ARG002
        return self.mechanism

    def _weight(self, pure: bool) -> float:  # noqa: ARG002
        """Return what a release costs at multiplier 1, in ε."""
        return self.mechanism.weight
