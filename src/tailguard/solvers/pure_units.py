"""Private units for a small budget of pure ε: a few picks, and two vectors where the budget carries them.

Under pure ε the noise of a histogram grows with the number of its cells and of the columns. A pick does not; so the
target's median and spread and the usual length of a row are picked, and so are the columns' own where n·ε ÷ d carries
it. Before that, columns get means and variances of shortened rows, whose noise is that of one vector; and before that,
one scale for all of them.

None of these sees a column that is large in few records, nor a scale that came out far too small: either makes a few
rows enormous, and their predictions with them. A record has one largest entry, however many columns there are; so a
histogram of largest entries shows such columns at little noise, and their scales are raised.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import choice
from tailguard.solvers.base import OPTIONAL, FloatVector, Query, Released, Setting
from tailguard.solvers.picked import FINE, signed_median
from tailguard.solvers.preparation import Preparation, without_faint_centre
from tailguard.solvers.quantile import quantile
from tailguard.solvers.rank_level import rank_level
from tailguard.solvers.scales import Scales
from tailguard.solvers.spread import HIGH, LOW
from tailguard.solvers.wide import LEAST, LONGEST, shrunken
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Rows
from tailguard.statistics.leaders import Leaders
from tailguard.statistics.scalars import Columns, Norm, Occurring, Scalars, Target
from tailguard.statistics.squares import Squares
from tailguard.statistics.view import View

__all__ = ["LEADING", "PureUnits", "alarm_levels", "prepare_pure", "unscaled"]

NORMALISER = 1.4826
"""Standard deviations of a Gaussian law in a median deviation."""

UPPER, UPPER_NORMALISER = 0.75, 0.8693
"""Quantile of the distance from a column's median that its spread is picked at, and standard deviations of a Gaussian
law in it. The median distance of a column with two values would be that of either of them from a centre in between."""

RARE, SMALLEST = 1, 2.0**-27
"""A column that differs from its centre in less than about 3/8 of the records is left in its own units, and so is one
whose size would be absurd. A pick for a rare indicator is nearly blind: it must not fall on a size far too small, for
then the slope is far too large, and the few records that have the indicator are predicted absurdly."""

ZERO = 0.2
"""How many of the records a pick of a column's median must be ahead of 0. Where most are 0, every number from there to
the next value is nearly a median, however small: zeros are magnitudes then, and the column's spread is absurd."""

OWN = 1.0
"""The scale of such a column. No pick gives exactly that: candidates are powers of 2 times a normaliser."""

LARGE, OCTAVES, LEADING, ROOM = 4, 4, 7, 2
"""Entries from 2^LARGE on are large; `LEADING` cells of so many octaves each count them, and where a cell counts
records for certain, its column's scale is raised until the cell ends `ROOM` octaves above that."""

ALARM, FEW = 0.02, 0.02
"""Twice the probability that noise alone raises a scale in one round, mostly by a little; and the least share of the
records that does. Fewer are left to the fit, which shortens what they do: a scale that suits them would hide the column
from all others."""

SQUARES = 2.0
"""Squares of a row's entries are shortened to so many times √d, entries being of size 1."""


@dataclass(frozen=True)
class PureUnits(Setting):
    """Which private units are sought.

    Parameters
    ----------
    centred : bool
        Whether target and columns are centred: not in a model without an intercept.
    target : bool
        Whether the target gets units: for a loss of residuals, not for classes.
    columns : {"common", "averaged", "scaled", "own"}
        "common": one scale, the usual length of a row (step "common scale"). "averaged": then means and variances of
        shortened rows (steps "feature mean", "row length", "feature variance"). "scaled": usual sizes of every column
        (step "feature scale"), then means of shortened rows (step "feature mean"). "own": medians and spreads of every
        column (steps "feature centre", "feature scale").
    rounds : int
        How often columns of large entries are sought (step "leading columns").
    target_noise, feature_noise : float
        Noise of the picks of the target's spread and of a column's size, in records; 0 where there is none, or where no
        size is likelier than others.
    target_grid, feature_grid : Preparation or None
        How finely medians are sought by counts; None picks them from a coarse grid.
    scales : Scales or None
        Public units; what they have is not sought. With scales of the columns, "scaled" seeks means alone, and "common"
        nothing.
    """

    centred: bool
    target: bool
    columns: Literal["common", "averaged", "scaled", "own"]
    rounds: int = 0
    target_noise: float = 0.0
    feature_noise: float = 0.0
    target_grid: Preparation | None = None
    feature_grid: Preparation | None = None
    scales: Scales | None = field(default=None, metadata=OPTIONAL)

    def __post_init__(self) -> None:
        choice("columns", self.columns, "PureUnits", ("common", "averaged", "scaled", "own"))

    @property
    def known(self) -> Scales:
        """The public units, perhaps none."""
        return self.scales or Scales()

    @property
    def centring(self) -> bool:
        """Whether centres of the columns are sought."""
        return self.centred and self.known.centres is None


def prepare_pure(view: View, units: PureUnits, n: int, bits: int) -> Generator[Query, Released, View]:
    """Ask for units and return the view that has them."""
    if units.target:
        view = yield from _target(view, units, n, bits)
    view = replace(view, centre=units.known.centre, scale=units.known.scale)
    if units.columns == "own":
        return (yield from _own(view, units, n, bits))
    if units.columns == "scaled":
        if view.scale is None:
            sizes = yield from _sizes(replace(view, intercept=False), 0.5, NORMALISER, units.feature_noise, n, bits)
            view = yield from _tamed(replace(view, scale=sizes), units.rounds, n, bits)
        return (yield from _averaged(view, n, bits)) if units.centring else view
    if view.scale is not None:
        return view
    d = view.dimension_in
    length = yield from rank_level("common scale", _lengths(view), 0.5, n, bits, otherwise=1.0)
    view = yield from _tamed(replace(view, scale=np.full(d, length / np.sqrt(d))), units.rounds, n, bits)
    if units.columns == "common":
        return view
    if units.centring:
        view = yield from _centred(view, n, bits)
    return (yield from _refined(view, n, bits))


def _sizes(
    view: View, level: float, normaliser: float, noise: float, n: int, bits: int
) -> Generator[Query, Released, FloatVector]:
    """Return the usual size of every column, by a quantile of its magnitude.

    A column that hardly ever differs from its centre, such as a rare indicator, is left in its own units; one without
    numbers in most records is dropped, or it would take all of them with it.
    """
    sizes = np.empty(view.dimension_in)
    for j in range(view.dimension_in):
        column = Columns(replace(view, columns=[j]))
        sizes[j] = yield from rank_level(
            "feature scale", column, level, n, bits, otherwise=0.0, rare=RARE, noise=noise, missing=np.inf
        )
    return np.where(sizes < SMALLEST, OWN, normaliser * sizes)


def unscaled(view: View, units: PureUnits | None) -> NDArray[np.bool_]:
    """Return which columns were left in their own units, because no size of them was seen."""
    if units is None or units.known.scale is not None:
        return np.zeros(view.dimension_in, bool)
    return np.asarray(np.equal(np.asarray(view.scale), OWN))


def _target(view: View, units: PureUnits, n: int, bits: int) -> Generator[Query, Released, View]:
    """Return the view with a target around 0, in units of its spread."""
    known = units.known
    if units.centred and known.target_centre is None:
        centre = yield from _medians("target centre", [Target(view)], units.target_grid, n, bits)
        view = replace(view, target_centre=float(centre[0]))
    elif known.target_centre is not None:
        view = replace(view, target_centre=known.target_centre)
    if known.target is not None:
        return without_faint_centre(replace(view, target_scale=known.target))
    size = max(abs(view.target_centre), 2.0**LOW) / NORMALISER
    near = min(max(abs(view.target_centre), 1.0), 2.0**HIGH)
    scale = yield from rank_level(
        "target scale", Occurring(Target(view)), 0.5, n, bits, otherwise=size, near=near, noise=units.target_noise
    )
    return without_faint_centre(replace(view, target_scale=NORMALISER * scale))


def _own(view: View, units: PureUnits, n: int, bits: int) -> Generator[Query, Released, View]:
    """Return the view with a median and a spread for every column."""
    d = view.dimension_in
    plain = replace(view, centre=None, scale=None, intercept=False)
    if units.known.centre is not None:
        centre = units.known.centre
    elif units.centred and units.feature_grid is not None:
        centre = yield from quantile("feature centre", Columns(plain), 0.5, n, bits, units.feature_grid.grid)
    elif units.centred:
        columns = [Columns(replace(plain, columns=[j])) for j in range(d)]
        centre = yield from _medians("feature centre", columns, None, n, bits, ZERO * n)
    else:
        centre = np.zeros(d)
    if units.known.features is not None:
        return replace(view, centre=centre)
    scale = yield from _sizes(replace(plain, centre=centre), UPPER, UPPER_NORMALISER, units.feature_noise, n, bits)
    return (yield from _tamed(replace(view, centre=centre, scale=scale), units.rounds, n, bits))


def _tamed(view: View, rounds: int, n: int, bits: int) -> Generator[Query, Released, View]:
    """Return the view with larger scales for columns in which a share of the records that shows has large entries."""
    for _ in range(rounds):
        plain = replace(view, intercept=False)
        reply = yield Query("leading columns", Leaders(plain, LARGE, OCTAVES, LEADING, bits))
        counts = reply.value.reshape(-1, LEADING)
        certain = counts > np.maximum(reply.noise * alarm_levels(len(counts)), FEW * n)
        beyond = np.max(np.where(certain, np.arange(1, LEADING + 1), 0), axis=1)
        view = replace(view, scale=np.asarray(view.scale) * np.exp2(np.maximum(OCTAVES * beyond - ROOM, 0)))
    return view


def alarm_levels(d: int) -> FloatVector:
    """Return for each cell beyond how many scales of noise a count is certain; each cell must be twice as sure."""
    return np.asarray(np.log(d / ALARM) + np.log(2.0) * np.arange(1, LEADING + 1))


def _medians(
    step: str, scalars: Sequence[Scalars], grid: Preparation | None, n: int, bits: int, prior: float = 0.0
) -> Generator[Query, Released, FloatVector]:
    """Ask for the median of each of several scalars; picks other than 0 must be `prior` records ahead of it."""
    found = np.zeros(len(scalars))
    for j, scalar in enumerate(scalars):
        if grid is not None:
            found[j : j + 1] = yield from quantile(step, scalar, 0.5, n, bits, grid.grid)
            continue
        found[j] = yield from signed_median(step, scalar, n, bits, FINE, prior)
    return found


def _centred(view: View, n: int, bits: int) -> Generator[Query, Released, View]:
    """Return the view centred at the mean of shortened rows, in units of what is left of their length."""
    d, scale = view.dimension_in, np.asarray(view.scale)
    view = yield from _averaged(view, n, bits)
    length = yield from rank_level("row length", _lengths(view), 0.5, n, bits, otherwise=np.sqrt(d))
    return replace(view, scale=scale * length / np.sqrt(d))


def _averaged(view: View, n: int, bits: int) -> Generator[Query, Released, View]:
    """Return the view centred at the mean of shortened rows."""
    reply = yield Query("feature mean", Clipped(_rows(view), LONGEST * np.sqrt(view.dimension_in), bits))
    scale = np.asarray(view.scale)
    centre = shrunken(reply.value / n, reply.noise / n) * np.where(np.isfinite(scale), scale, 0.0)
    return replace(view, centre=centre)


def _refined(view: View, n: int, bits: int) -> Generator[Query, Released, View]:
    """Return the view with scales of the columns' own, as far as their variances differ by more than noise."""
    squares = Squares(replace(view, intercept=False))
    reply = yield Query("feature variance", Clipped(squares, SQUARES * np.sqrt(view.dimension_in), bits))
    noise = reply.noise / n
    variance = shrunken(reply.value / n, noise)
    least = LEAST * max(float(variance.mean()), 0.0) + noise
    return replace(view, scale=np.asarray(view.scale) * np.sqrt(np.maximum(variance, least)))


def _rows(view: View) -> Rows:
    return Rows(replace(view, intercept=False))


def _lengths(view: View) -> Norm:
    return Norm(_rows(view))
