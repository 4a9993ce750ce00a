"""Exact minimisers to a public accuracy, and Lipschitz extensions: what pure differential privacy releases."""

from tailguard.certified.extension import BallExtension
from tailguard.certified.fallback import resolution
from tailguard.certified.joint import JointProblem
from tailguard.certified.minimise import minimise
from tailguard.certified.objective import Objective
from tailguard.certified.polyhedral import ApproximateSubgradient, Polyhedral, polyhedral_extension
from tailguard.certified.subgradient import adaptive_subgradient, inexact_projection, predicted_iterations

__all__ = [
    "ApproximateSubgradient",
    "BallExtension",
    "JointProblem",
    "Objective",
    "Polyhedral",
    "adaptive_subgradient",
    "inexact_projection",
    "minimise",
    "polyhedral_extension",
    "predicted_iterations",
    "resolution",
]
