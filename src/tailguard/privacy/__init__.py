"""Budgets, events and their cost: no arrays of data and no records in here.

`epsilon`, `delta` and `calibrate` are closed forms; `recompute` derives the same cost a second way, through
dp-accounting.
"""

from tailguard.privacy.budget import Privacy
from tailguard.privacy.calibration import (
    bounded_range_eta,
    calibrate,
    gaussian_multiplier,
    gdp_mu,
    pure_multiplier,
    zcdp_rho,
)
from tailguard.privacy.composition import delta, epsilon
from tailguard.privacy.events import BoundedRange, Disjoint, Event, Gaussian, Laplace, Pure, Repeat, Sequential
from tailguard.privacy.filter import Cost, Filter
from tailguard.privacy.recompute import recompute

__all__ = [
    "BoundedRange",
    "Cost",
    "Disjoint",
    "Event",
    "Filter",
    "Gaussian",
    "Laplace",
    "Privacy",
    "Pure",
    "Repeat",
    "Sequential",
    "bounded_range_eta",
    "calibrate",
    "delta",
    "epsilon",
    "gaussian_multiplier",
    "gdp_mu",
    "pure_multiplier",
    "recompute",
    "zcdp_rho",
]
