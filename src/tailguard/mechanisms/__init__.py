"""Private releases of integer vectors; the proof of each module lies beside it as a note of the same name."""

from tailguard.mechanisms.base import Evaluable, FloatVector, IntVector, Mechanism, Norm, Randomness
from tailguard.mechanisms.gaussian import Gaussian
from tailguard.mechanisms.gumbel import Exponential, NoisyMax, TopK
from tailguard.mechanisms.l2_laplace import L2Laplace
from tailguard.mechanisms.laplace import Laplace
from tailguard.mechanisms.objective_perturbation import ObjectivePerturbation
from tailguard.mechanisms.peeling import LaplacePeeling, Peeling

__all__ = [
    "Evaluable",
    "Exponential",
    "FloatVector",
    "Gaussian",
    "IntVector",
    "L2Laplace",
    "Laplace",
    "LaplacePeeling",
    "Mechanism",
    "NoisyMax",
    "Norm",
    "ObjectivePerturbation",
    "Peeling",
    "Randomness",
    "TopK",
]
