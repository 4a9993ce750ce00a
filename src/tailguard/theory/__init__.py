"""Theory as code: every theorem's rate as a function, lower bounds, and the instances that prove them.

Each paper has its own module; all take a `Setting`. `rates` is the table of all of them, `render` prints it. What the
papers get wrong is said where it is corrected.
"""

from tailguard.theory import explicit, hu, lowy, tao, zhao
from tailguard.theory.catalogue import rates, render
from tailguard.theory.instances import BiasedSigns, Instance, Packing, PointMass, TwoPoint
from tailguard.theory.packing import gilbert_varshamov, random_code
from tailguard.theory.rate import Exponent, Rate
from tailguard.theory.setting import Setting

__all__ = [
    "BiasedSigns",
    "Exponent",
    "Instance",
    "Packing",
    "PointMass",
    "Rate",
    "Setting",
    "TwoPoint",
    "explicit",
    "gilbert_varshamov",
    "hu",
    "lowy",
    "random_code",
    "rates",
    "render",
    "tao",
    "zhao",
]
