"""The private preparation that every practical recipe shares: centre and scale of columns and of the target."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np

from tailguard._validate import integer, real
from tailguard.domains.base import Domain
from tailguard.domains.whole_space import WholeSpace
from tailguard.solvers.base import OPTIONAL, Estimate, FloatVector, Query, Released, Setting
from tailguard.solvers.metric_projection import scaled_projection
from tailguard.solvers.picked import FINE, signed_median
from tailguard.solvers.quantile import LogGrid, quantile
from tailguard.solvers.scales import Scales
from tailguard.solvers.spread import HIGH, LOW, spread
from tailguard.statistics.fields import Rows
from tailguard.statistics.scalars import Columns, Norm, Target
from tailguard.statistics.view import View

__all__ = [
    "Preparation",
    "inside",
    "prepare_features",
    "prepare_target",
    "raw_units",
    "units",
    "without_faint_centre",
]

FAINT = 2.0**-4
"""Part of the scale below which a centre is as good as 0."""


@dataclass(frozen=True)
class Preparation(Setting):
    """How finely medians are sought, if at all.

    Parameters
    ----------
    substeps : int
        Edges an octave of the signed grid on which medians are sought.
    centred : bool
        Whether medians are sought and subtracted. A model without an intercept must not be centred: it would no longer
        pass through the origin.
    scaled : bool
        Whether columns get scales. A single column needs none: its clip level is one.
    pooled : bool
        Whether columns without a significant spread of their own get a common scale, from one more histogram (step
        "pooled scale"), instead of being dropped. A mean needs it: a rare large value moves it all the same.
    scales : Scales or None
        Public units; what they have is not sought.
    medians : bool
        Whether columns are centred, too. Where the budget carries no median of every column, only the target is: the
        Gram matrix finds the columns' means, as long as they are not far off in units of their sizes.
    picks : int, default=0
        How often every column's median is picked, each time around the last one; 0 where medians are sought by counts.
    prior : float, default=0.0
        How many records every other median must be ahead of 0: half of a column may be 0, and then any number up to the
        next one is a median.
    target_substeps : int or None, default=None
        The same of the target, whose single median may be sought on a finer grid.
    """

    substeps: int
    centred: bool = True
    scaled: bool = True
    pooled: bool = False
    scales: Scales | None = field(default=None, metadata=OPTIONAL)
    medians: bool = True
    picks: int = field(default=0, metadata=OPTIONAL)
    prior: float = field(default=0.0, metadata=OPTIONAL)
    target_substeps: int | None = field(default=None, metadata=OPTIONAL)

    def __post_init__(self) -> None:
        integer("picks", self.picks, "Preparation", at_least=0, at_most=8)
        real("prior", self.prior, "Preparation", at_least=0.0)

    @property
    def known(self) -> Scales:
        """The public units, perhaps none."""
        return self.scales or Scales()

    @property
    def asked(self) -> frozenset[str]:
        """The steps that are asked for, of those that the budget would be spent on without public units."""
        return frozenset(
            name
            for name, sought in (
                ("feature centre", self.centred and self.medians and self.known.centres is None),
                ("feature scale", self.scaled and self.known.features is None),
                ("pooled scale", self.scaled and self.pooled and self.known.features is None),
                ("target centre", self.centred and self.known.target_centre is None),
                ("target scale", self.known.target is None),
            )
            if sought
        )

    @property
    def of_target(self) -> "Preparation":
        """The same with the target's grid."""
        return replace(self, substeps=self.target_substeps or self.substeps)

    @property
    def grid(self) -> LogGrid:
        """The signed grid of medians."""
        return LogGrid(LOW, HIGH, self.substeps, signed=True)

    @property
    def resolution(self) -> float:
        """Relative distance of two edges, with a factor 4 of caution."""
        substeps, times = (FINE, self.picks) if self.picks else (self.substeps, 1)
        return float(4.0 * (np.exp2(1.0 / substeps) - 1.0) ** times)

    def blur(self, view: View) -> float:
        """Return how far from 0 the grid may put a target that is equal to its median, in the view's units."""
        resolution = self.of_target.resolution if self.known.target_centre is None else 0.0
        return 0.25 * resolution * abs(view.target_centre) / view.target_scale


def prepare_features(view: View, preparation: Preparation, n: int, bits: int) -> Generator[Query, Released, View]:
    """Ask for "feature centre" and "feature scale" and return the view that centres and scales the columns.

    A column without significant spread is dropped: its scale is infinite. What is public is not asked for.
    """
    plain, known = replace(view, centre=None, scale=None, intercept=False), preparation.known
    centre = np.zeros(view.dimension_in) if known.centre is None else known.centre
    if "feature centre" in preparation.asked:
        if preparation.picks:
            centre = yield from _picked(plain, preparation, n, bits)
        else:
            centre = yield from quantile("feature centre", Columns(plain), 0.5, n, bits, preparation.grid)
    if "feature scale" not in preparation.asked:
        scale = np.ones(view.dimension_in) if known.scale is None else known.scale
        return replace(view, centre=centre, scale=scale)
    centred = Columns(replace(plain, centre=centre))
    # A mean has no intercept that a constant column would be at odds with: what the centre rounds off is counted too.
    rounded = preparation.resolution if known.centres is None else 0.0
    counted, ignored = (0.25 * rounded, 0.0) if preparation.pooled else (0.0, rounded)
    single = not preparation.pooled  # an atom within the rounding is told by what is counted there
    scale = yield from spread("feature scale", centred, centre, n, bits, ignored, rounded=counted, atoms=single)
    if preparation.pooled:
        scale = yield from _pooled(replace(plain, centre=centre), scale, n, bits, rounded)
    return replace(view, centre=centre, scale=scale)


def _picked(view: View, preparation: Preparation, n: int, bits: int) -> Generator[Query, Released, FloatVector]:
    """Ask for the median of every column, and again for that of what is left: a pick tells a number within 1 %."""
    centre = np.zeros(view.dimension_in)
    for _ in range(preparation.picks):
        rest = np.zeros(centre.size)
        for j in range(centre.size):
            column = Columns(replace(view, columns=[j]))
            rest[j] = yield from signed_median("feature centre", column, n, bits, FINE, preparation.prior)
        centre = centre + rest
        view = replace(view, centre=centre)
    return centre


def _pooled(
    view: View, scale: FloatVector, n: int, bits: int, resolution: float
) -> Generator[Query, Released, FloatVector]:
    """Ask for the spread of the norm of all columns without a scale, and share it among them."""
    rest = np.isinf(scale)
    if not rest.any():
        yield Query("pooled scale", None)
        return scale
    others = Norm(Rows(replace(view, scale=np.where(rest, 1.0, np.inf))))
    centre = np.abs(np.asarray(view.centre)[rest]).max(keepdims=True)
    common = yield from spread("pooled scale", others, centre, n, bits, resolution, atoms=False)
    return np.where(rest, common[0] / np.sqrt(rest.sum()), scale)


def prepare_target(view: View, preparation: Preparation, n: int, bits: int) -> Generator[Query, Released, View]:
    """Ask for "target centre" and "target scale" and return the view that centres and scales the target.

    A target within the rounding of its centre is scaled by its distance from there, and one without significant spread
    by its own size: there is nothing to explain, and nothing breaks. What is public is not asked for.
    """
    known, preparation = preparation.known, preparation.of_target
    centre = np.full(1, known.target_centre or 0.0)
    if "target centre" in preparation.asked:
        centre = yield from quantile("target centre", Target(view), 0.5, n, bits, preparation.grid)
    middle = float(centre[0])
    centred = Target(replace(view, target_centre=middle))
    if known.target is not None:
        return replace(view, target_centre=middle, target_scale=known.target)
    rounded = preparation.resolution if known.target_centre is None else 0.0
    scale = yield from spread("target scale", centred, centre, n, bits, rounded, within=True)
    size = float(scale[0]) if np.isfinite(scale[0]) else max(abs(middle), 2.0**LOW)
    return replace(view, target_centre=middle, target_scale=size)


def without_faint_centre(view: View) -> View:
    """Return the view with a target's centre of 0 where it is next to nothing beside the scale.

    Where half of the targets are 0, every number from there to the next target is a median.
    """
    faint = abs(view.target_centre) < FAINT * view.target_scale
    return replace(view, target_centre=0.0) if faint else view


def units(view: View) -> tuple[FloatVector, FloatVector]:
    """Return the centres and scales of a prepared view's columns."""
    return np.asarray(view.centre, dtype=np.float64), np.asarray(view.scale, dtype=np.float64)


def inside(view: View, model: FloatVector, domain: Domain) -> FloatVector:
    """Return the model, in a prepared view's units, with the nearest slopes there that lie in the domain in raw units.

    In raw units the nearest ones would be those of the columns with the largest numbers, whatever they predict.
    """
    if isinstance(domain, WholeSpace):
        return model
    d = domain.dimension
    factors = view.target_scale / np.asarray(view.scale)
    used = factors > 0.0
    slopes = scaled_projection(np.where(used, model[:d], 0.0), np.where(used, factors, 1.0), domain)
    return np.append(np.where(used, slopes, 0.0), model[d:])


def raw_units(view: View, model: FloatVector, domain: Domain) -> Estimate:
    """Return a model in a prepared view's units as an estimate in raw units, in the domain."""
    d = domain.dimension
    slopes = domain.project(model[:d] * view.target_scale / np.asarray(view.scale))
    if not view.intercept:
        return Estimate(slopes)
    centre = np.zeros(d) if view.centre is None else np.asarray(view.centre)
    return Estimate(slopes, float(view.target_centre + view.target_scale * model[d] - slopes @ centre))
