"""The trusted kernel: plan, records and randomness meet here and nowhere else."""

from tailguard.run.randomness import make_randomness
from tailguard.run.run import drive, run

__all__ = ["drive", "make_randomness", "run"]
