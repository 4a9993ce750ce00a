"""Data-free iterations: they ask bounded statistics and are told released values."""

from tailguard.solvers.base import Estimate, Query, Released, Setting, Solve, Solver
from tailguard.solvers.clip_level import ClipLevel
from tailguard.solvers.clipped_descent import ClippedDescent, Levels
from tailguard.solvers.means import CentredMean, ClippedMean, Radius
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.projected_gradient import ProjectedGradient
from tailguard.solvers.quantile import LogGrid

__all__ = [
    "CentredMean",
    "ClipLevel",
    "ClippedDescent",
    "ClippedMean",
    "Estimate",
    "Levels",
    "LogGrid",
    "Preparation",
    "ProjectedGradient",
    "Query",
    "Radius",
    "Released",
    "Setting",
    "Solve",
    "Solver",
]
