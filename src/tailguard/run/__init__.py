"""The trusted kernel: plan, records and randomness meet here and nowhere else."""

from tailguard.run.randomness import data_generator, derived_seed, make_randomness
from tailguard.run.run import drive, run

__all__ = ["data_generator", "derived_seed", "drive", "make_randomness", "run"]
