"""Private units under pure ε, planned: what n·ε and n·ε ÷ d carry, and what share of the budget it takes."""

from typing import Literal

from tailguard.losses.base import ResidualLoss
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, FINE
from tailguard.solvers.picked import FINELY_SIGNED
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.pure_units import LEADING, PureUnits, alarm_levels
from tailguard.solvers.rank_level import CANDIDATES
from tailguard.solvers.scales import Scales
from tailguard.statistics.below import Below
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.leaders import Leaders
from tailguard.statistics.ranks import Ranks
from tailguard.statistics.signed_ranks import SignedRanks

__all__ = ["pick_noise", "pick_share", "pure_units", "unit_drafts"]

PICK, POSITION = 55.0, 60.0
"""n·ε that a pick of a magnitude and of a position take: that one goes far astray then happens once in a thousand."""

SPREAD, AMPLE, AMPLE_SHARE = 120.0, 300.0, 0.06
"""n·ε of a pick of a column's spread, for a quantile beyond the median; and as much as picks of columns take where so
small a share carries all of them: of a column with few values, fewer records tell right from wrong."""

LEAST, MOST = 0.005, 0.15
"""Limits of the share of one pick."""

TARGET, TARGET_SHARE = 300.0, 0.02
"""n·ε of the pick of the target's spread where so small a share carries it: of a target that is mostly 0 few records
count, and where the pick goes astray, the model is of the wrong size by many octaves."""

MEDIAN, MEDIAN_NOISE = 0.03, 0.06
"""Largest share of medians by counts, and the noise of their ranks: then they are preferred to picks."""

OWN, SIZE, SIZES, AMPLE_SIZE = 0.2, 38.0, 0.2, 50.0
"""Largest share of the columns' own medians and spreads by picks; n·ε of a pick of a column's size, the largest share
of them all, and n·ε of each where that is cheap."""

AVERAGED, VECTOR, VECTOR_LEAST, VECTOR_MOST = 120.0, 25.0, 0.05, 0.12
"""n·ε ÷ k from which on columns get means and variances; what of it each of them takes, and limits of the share."""

ROUNDS, SEEN, TAMED, TAMED_MOST = 3, 0.03, 0.03, 0.06
"""Most rounds in which columns of large entries are sought, and the share of the records that each of them should see;
the largest share of the budget for several of them, and for a single one, which may see half as well."""

WEAKEST, WEAKEST_TARGET = 160.0, 300.0
"""Least n·ε: picks of a half of what they take; and where a target's median and spread are among them, of most of it.
One of these that goes astray takes the model with it."""


def pick_share(problem: Problem, privacy: Privacy, count: float = PICK) -> float:
    """Return the share of a pick that should have this n·ε, within limits."""
    return min(max(count / (problem.n * privacy.epsilon), LEAST), MOST)


def pick_noise(share: float, privacy: Privacy) -> float:
    """Return the noise of a pick with this share, in records: a record moves a score by at most one."""
    return 2.0 / (share * privacy.epsilon)


def pure_units(problem: Problem, privacy: Privacy) -> PureUnits:
    """Return the finest private units that the budget carries, or raise `BudgetError`."""
    total, known = problem.n * privacy.epsilon, problem.scales or Scales()
    columns = _columns(problem, total)
    target, centring = isinstance(problem.loss, ResidualLoss), problem.intercept and known.centres is None
    sought = target and (known.target is None or (problem.intercept and known.target_centre is None))
    carry("Private units", 1.0 / total, 1.0 / (WEAKEST_TARGET if sought else WEAKEST), problem, privacy)
    return PureUnits(
        centred=problem.intercept,
        target=target,
        columns=columns,
        rounds=_rounds(problem, privacy) if known.features is None else 0,
        target_noise=pick_noise(_target_share(problem, privacy), privacy) if target else 0.0,
        feature_noise=_size_noise(columns, problem, privacy) if known.features is None else 0.0,
        target_grid=_grid(problem, privacy, 1) if target and problem.intercept else None,
        feature_grid=_grid(problem, privacy, problem.d) if columns == "own" and centring else None,
        scales=problem.scales,
    )


def _columns(problem: Problem, total: float) -> Literal["common", "averaged", "scaled", "own"]:
    """Return the finest units of columns for n·ε; public ones cost nothing."""
    known = problem.scales or Scales()
    scale, centre = known.features is None, problem.intercept and known.centres is None
    if problem.d * (PICK * scale + POSITION * centre) <= OWN * total:
        return "own"
    if not scale:
        return "scaled" if total >= AVERAGED * (problem.d + problem.intercept) else "common"
    if problem.d * SIZE <= SIZES * total:
        return "scaled"
    return "averaged" if total >= AVERAGED * (problem.d + problem.intercept) else "common"


def _grid(problem: Problem, privacy: Privacy, scalars: int) -> Preparation | None:
    """Return how finely medians of so many scalars may be sought by counts, if at all."""
    for substeps in (FINE, COARSE):
        found = Preparation(substeps, scaled=False)
        if _grid_share(problem, privacy, found, scalars) <= MEDIAN:
            return found
    return None


def _grid_share(problem: Problem, privacy: Privacy, grid: Preparation, scalars: int) -> float:
    """Return the share with which ranks are just quiet enough."""
    return CountNoise.of(privacy).of_bisection(1.0, grid.grid.depth, scalars) / (MEDIAN_NOISE * problem.n)


def unit_drafts(units: PureUnits, problem: Problem, privacy: Privacy) -> list[Draft]:
    """Return the steps in the order in which the solver asks."""
    d, share, drafts = problem.d, pick_share(problem, privacy), []
    vector = VECTOR * (d + problem.intercept) / (problem.n * privacy.epsilon)
    vector = min(max(vector, VECTOR_LEAST), VECTOR_MOST)
    known = units.known
    if units.target and units.centred and known.target_centre is None:
        drafts.append(_medians("target centre", units.target_grid, problem, privacy, 1))
    if units.target and known.target is None:
        drafts.append(Draft("target scale", Ranks, CANDIDATES, _target_share(problem, privacy), picks=1))
    if units.columns == "own":
        if units.centring:
            drafts.append(_medians("feature centre", units.feature_grid, problem, privacy, d))
        spread = Draft("feature scale", Ranks, CANDIDATES + 1, _size_share("own", problem, privacy), d, picks=1)
        return [*drafts, *([spread, *_leaders(problem, privacy)] if known.features is None else [])]
    if units.columns == "scaled":
        sizes = Draft("feature scale", Ranks, CANDIDATES + 1, _size_share("scaled", problem, privacy), d, picks=1)
        drafts += [sizes, *_leaders(problem, privacy)] if known.features is None else []
        return [*drafts, Draft("feature mean", Clipped, d, vector)] if units.centring else drafts
    if known.features is not None:
        return drafts
    drafts += [Draft("common scale", Ranks, CANDIDATES, share, picks=1), *_leaders(problem, privacy)]
    if units.columns == "averaged" and units.centring:
        drafts.append(Draft("feature mean", Clipped, d, vector))
        drafts.append(Draft("row length", Ranks, CANDIDATES, share, picks=1))
    return [*drafts, Draft("feature variance", Clipped, d, vector)] if units.columns == "averaged" else drafts


def _target_share(problem: Problem, privacy: Privacy) -> float:
    """Return the share of the pick of the target's spread."""
    return max(pick_share(problem, privacy), min(TARGET / (problem.n * privacy.epsilon), TARGET_SHARE))


def _size_share(columns: str, problem: Problem, privacy: Privacy) -> float:
    """Return the share of the picks of all columns' sizes."""
    own = columns == "own"
    return _picks(problem, privacy, SPREAD if own else SIZE, problem.d, AMPLE if own else AMPLE_SIZE)


def _size_noise(columns: str, problem: Problem, privacy: Privacy) -> float:
    """Return the noise of each of these picks, in records; 0 where there are none."""
    if columns not in ("own", "scaled"):
        return 0.0
    return 2.0 * problem.d / (_size_share(columns, problem, privacy) * privacy.epsilon)


def _rounds(problem: Problem, privacy: Privacy) -> int:
    """Return how many rounds the budget carries."""
    each = _round_share(problem, privacy)
    return min(ROUNDS, max(int(TAMED / each), int(each <= 2.0 * TAMED_MOST)))


def _round_share(problem: Problem, privacy: Privacy) -> float:
    """Return what a round takes: Laplace noise of scale 2 ÷ ε must hardly ever look like so many records."""
    return 2.0 * float(alarm_levels(problem.d)[1]) / (SEEN * problem.n * privacy.epsilon)


def _leaders(problem: Problem, privacy: Privacy) -> list[Draft]:
    """Return the search for columns of rare large numbers, where the budget carries it."""
    rounds = _rounds(problem, privacy)
    share = rounds * min(_round_share(problem, privacy), TAMED_MOST)
    return [Draft("leading columns", Leaders, LEADING * problem.d, share, rounds)] if rounds else []


def _medians(name: str, grid: Preparation | None, problem: Problem, privacy: Privacy, scalars: int) -> Draft:
    if grid is not None:
        return Draft(name, Below, scalars, _grid_share(problem, privacy, grid, scalars), grid.grid.depth)
    share = _picks(problem, privacy, POSITION, scalars, AMPLE)
    return Draft(name, SignedRanks, FINELY_SIGNED, share, scalars, picks=1)


def _picks(problem: Problem, privacy: Privacy, count: float, scalars: int, ample: float) -> float:
    """Return the share of a pick for each of several scalars, with more n·ε where that is cheap."""
    if scalars == 1:
        return pick_share(problem, privacy, count)
    each = scalars / (problem.n * privacy.epsilon)
    return max(count * each, min(ample * each, AMPLE_SHARE), LEAST)
