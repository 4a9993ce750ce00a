"""Losses: what a fit makes small. Public constants in the fields, records only in the arguments."""

from tailguard.losses.absolute import Absolute
from tailguard.losses.balanced import BalancedLogistic
from tailguard.losses.base import Loss, RecordLoss
from tailguard.losses.biweight import Biweight
from tailguard.losses.custom import CustomLoss
from tailguard.losses.hinge import Hinge
from tailguard.losses.huber import Huber
from tailguard.losses.logistic import Logistic
from tailguard.losses.squared import Squared
from tailguard.losses.squared_distance import SquaredDistance

__all__ = [
    "Absolute",
    "BalancedLogistic",
    "Biweight",
    "CustomLoss",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "RecordLoss",
    "Squared",
    "SquaredDistance",
]
