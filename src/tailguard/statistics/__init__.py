"""Bounded statistics on an integer grid, each with its sensitivity; a proof note lies beside each of them."""

from tailguard.statistics.base import Norm as SensitivityNorm
from tailguard.statistics.base import Statistic, grid_bits, statistic_type
from tailguard.statistics.below import Below
from tailguard.statistics.capped import Capped
from tailguard.statistics.catoni import Catoni
from tailguard.statistics.cells import Cells
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.coordinatewise import Clamped, Truncated
from tailguard.statistics.curvature import BoundedCurvatures, BoundedGradient, Curvatures
from tailguard.statistics.directional import Directional
from tailguard.statistics.either import Either
from tailguard.statistics.fields import Field, Gradient, RecordGradient, Rows
from tailguard.statistics.gradient_mapping import GradientMapping
from tailguard.statistics.gram import Gram
from tailguard.statistics.groups import ClippedGroups, ClippedMedian, TruncatedMedian
from tailguard.statistics.joint_minimiser import JointMinimiser
from tailguard.statistics.leaders import Leaders
from tailguard.statistics.minimiser import Minimiser, PerturbedMinimiser
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.outer import Outer
from tailguard.statistics.potential import Potential
from tailguard.statistics.ranks import Ranks
from tailguard.statistics.scalars import Columns, Largest, Norm, Scalars, Slope, Target
from tailguard.statistics.scores import Magnitudes, Nearest, Opposed, Shifted, Signed, Vertices, signed_coordinate
from tailguard.statistics.shrunken import Shrunken
from tailguard.statistics.signed_ranks import Halves, SignedRanks
from tailguard.statistics.slopes import Leveraged, Slopes
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

__all__ = [
    "Below",
    "BoundedCurvatures",
    "BoundedGradient",
    "Capped",
    "Catoni",
    "Cells",
    "Clamped",
    "Clipped",
    "ClippedGroups",
    "ClippedMedian",
    "Columns",
    "Curvatures",
    "Directional",
    "Either",
    "Field",
    "Gradient",
    "GradientMapping",
    "Gram",
    "Halves",
    "JointMinimiser",
    "Largest",
    "Leaders",
    "Leveraged",
    "Magnitudes",
    "Minimiser",
    "Nearest",
    "Norm",
    "Octaves",
    "Opposed",
    "Outer",
    "PerturbedMinimiser",
    "Potential",
    "Ranks",
    "RecordGradient",
    "Rows",
    "Scalars",
    "SensitivityNorm",
    "Shifted",
    "Shrunken",
    "Signed",
    "SignedRanks",
    "Slope",
    "Slopes",
    "Statistic",
    "Target",
    "Truncated",
    "TruncatedMedian",
    "Vertices",
    "View",
    "Weighted",
    "grid_bits",
    "signed_coordinate",
    "statistic_type",
]
