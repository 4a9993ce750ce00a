"""Data-free iterations: they ask bounded statistics and are told released values.

Every solver and setting is imported here, so that a plan that names one can be read in any process.
"""

from tailguard.solvers.base import Estimate, Query, Released, Setting, Solve, Solver
from tailguard.solvers.bounded_descent import BoundedDescent
from tailguard.solvers.calibration import Calibration
from tailguard.solvers.centred_descent import CentredDescent, Descent
from tailguard.solvers.clip_level import ClipLevel
from tailguard.solvers.clipped_descent import ClippedDescent
from tailguard.solvers.ending import Ending
from tailguard.solvers.entries import ClampedEntries, Entries, ShrunkenEntries, SmoothedEntries, TruncatedEntries
from tailguard.solvers.evaluation import ClassEvaluation, Judge, NumberEvaluation
from tailguard.solvers.frank_wolfe import FrankWolfe
from tailguard.solvers.intercept import Settling
from tailguard.solvers.iterative_updating import IterativeUpdating
from tailguard.solvers.localisation import Localised, Phase
from tailguard.solvers.mapping_phases import MappingPhase, MappingPhases
from tailguard.solvers.net import Net
from tailguard.solvers.net_search import NetSearch
from tailguard.solvers.newton import Newton
from tailguard.solvers.oracles import Clip, MeanOracle, MedianOfClippedMeans, MedianOfMeans, Truncate
from tailguard.solvers.output_fit import OutputFit
from tailguard.solvers.output_phases import DoubleOutput, OutputPhase, PotentialPhases
from tailguard.solvers.perturbed_fit import Perturbed, PerturbedFit
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.prepared_frank_wolfe import PreparedFrankWolfe
from tailguard.solvers.prepared_thresholding import PreparedThresholding
from tailguard.solvers.private_mean import PrivateMean
from tailguard.solvers.projected_gradient import ProjectedGradient
from tailguard.solvers.pure_units import PureUnits
from tailguard.solvers.quantile import LogGrid
from tailguard.solvers.refit import Levels, Refit
from tailguard.solvers.scales import Scales
from tailguard.solvers.selection import Candidate, ModelSelection, Selected
from tailguard.solvers.sparse_mean import PeeledMean, PickedMean
from tailguard.solvers.sparse_rounds import Picks, SparseRounds
from tailguard.solvers.thresholding import HardThresholding
from tailguard.solvers.tight_descent import TightDescent
from tailguard.solvers.wide import WidePreparation

__all__ = [
    "BoundedDescent",
    "Calibration",
    "Candidate",
    "CentredDescent",
    "ClampedEntries",
    "ClassEvaluation",
    "Clip",
    "ClipLevel",
    "ClippedDescent",
    "Descent",
    "DoubleOutput",
    "Ending",
    "Entries",
    "Estimate",
    "FrankWolfe",
    "HardThresholding",
    "IterativeUpdating",
    "Judge",
    "Levels",
    "Localised",
    "LogGrid",
    "MappingPhase",
    "MappingPhases",
    "MeanOracle",
    "MedianOfClippedMeans",
    "MedianOfMeans",
    "ModelSelection",
    "Net",
    "NetSearch",
    "Newton",
    "NumberEvaluation",
    "OutputFit",
    "OutputPhase",
    "PeeledMean",
    "Perturbed",
    "PerturbedFit",
    "Phase",
    "PickedMean",
    "Picks",
    "PotentialPhases",
    "Preparation",
    "PreparedFrankWolfe",
    "PreparedThresholding",
    "PrivateMean",
    "ProjectedGradient",
    "PureUnits",
    "Query",
    "Refit",
    "Released",
    "Scales",
    "Selected",
    "Setting",
    "Settling",
    "ShrunkenEntries",
    "SmoothedEntries",
    "Solve",
    "Solver",
    "SparseRounds",
    "TightDescent",
    "Truncate",
    "TruncatedEntries",
    "WidePreparation",
]
