"""Data-free iterations: they ask bounded statistics and are told released values."""

from tailguard.solvers.base import Estimate, Query, Released, Setting, Solve, Solver
from tailguard.solvers.clip_level import ClipLevel
from tailguard.solvers.clipped_descent import ClippedDescent, Levels
from tailguard.solvers.oracles import Clip, MeanOracle, MedianOfMeans, Truncate
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.private_mean import PrivateMean
from tailguard.solvers.projected_gradient import ProjectedGradient
from tailguard.solvers.quantile import LogGrid

__all__ = [
    "Clip",
    "ClipLevel",
    "ClippedDescent",
    "Estimate",
    "Levels",
    "LogGrid",
    "MeanOracle",
    "MedianOfMeans",
    "Preparation",
    "PrivateMean",
    "ProjectedGradient",
    "Query",
    "Released",
    "Setting",
    "Solve",
    "Solver",
    "Truncate",
]
