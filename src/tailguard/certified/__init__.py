"""Exact minimisers to a public accuracy: what pure differential privacy releases with noise."""

from tailguard.certified.minimise import minimise
from tailguard.certified.objective import Objective

__all__ = ["Objective", "minimise"]
