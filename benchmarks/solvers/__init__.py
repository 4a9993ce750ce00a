"""Solvers, one class a file."""

from benchmarks.solvers.non_private import NonPrivate
from benchmarks.solvers.ours import Tailguard

__all__ = ["NonPrivate", "Tailguard"]
