"""What a plan and its run must satisfy, as functions: the contract suites call them, and so do the planted faults."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from unittest.mock import patch

import numpy as np
from scipy.special import log_ndtr, ndtr
from scipy.stats import chi2

from tailguard.audit.replay import Replay, replay_each
from tailguard.engines import Block, Engine
from tailguard.engines.partition import WHOLE
from tailguard.engines.selection import Selection
from tailguard.mechanisms import (
    Gaussian,
    LaplacePeeling,
    Mechanism,
    NoisyMax,
    ObjectivePerturbation,
    Peeling,
    Randomness,
    TopK,
)
from tailguard.plans import Plan, Release, Step, verify
from tailguard.privacy import Event, Privacy
from tailguard.run import drive, run
from tailguard.run.randomness import Simulation
from tailguard.solvers import Released
from tailguard.statistics import PerturbedMinimiser, Statistic

LEVEL = 1e-6
"""Probability of a false alarm of one statistical check."""


class Watched:
    """An engine that remembers every block that was asked for and every exact sum that it gave."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.n, self.d, self.has_target, self.names = engine.n, engine.d, engine.has_target, engine.names
        self.blocks: list[Block] = []
        self.exact: list[np.ndarray] = []

    def map_sum(self, kernel, block: Block = WHOLE):
        total = self._engine.map_sum(kernel, block)
        self.blocks.append(block)
        self.exact.append(total.copy())
        return total

    def gather(self, block: Block = WHOLE):
        return self._engine.gather(block)


def schedule(plan: Plan) -> list[tuple[Step, Block]]:
    """Return the step and the block of every release, in order."""
    return [
        (step, Block((step.first + k) % step.blocks, step.blocks, step.columns))
        for step in plan.steps
        for k in range(step.count)
    ]


def watched_run(plan: Plan, engine: Engine, randomness: Randomness) -> tuple[Release, Watched]:
    watch = Watched(engine)
    return run(plan, watch, randomness), watch


def exact_values(release: Release, engine: Engine) -> list[np.ndarray | None]:
    """Return the exact value of every release on these records, asked again with the released answers.

    The blocks are taken from the plan, by the schedule of this module. A step that was passed over has no value.
    """
    planned = list(zip(schedule(release.plan), release.released, release.ledger.entries, strict=True))
    asked = iter([(block, reply) for (_, block), reply, entry in planned if not entry.skipped])
    exact = []

    def answer(step: Step, statistic: Statistic, _: Block) -> tuple[Released, Event]:
        block, reply = next(asked)
        exact.append(statistic.evaluate(Selection(engine, block)))
        return reply, step.release_event

    drive(release.plan, answer)
    found = iter(exact)
    return [None if entry.skipped else next(found) for _, _, entry in planned]


def noise_of(plan: Plan, engine: Engine, randomness: Randomness) -> list[tuple[str, bool, np.ndarray]]:
    """Return for each release its step, whether it is Gaussian, and what was added, in units of its declared scale.

    Picks release no noise that could be looked at, and a perturbed objective has it inside; `check_pick_scale` and
    `check_tilt_scale` do it for them.
    """
    release = run(plan, engine, randomness)
    found = []
    for (step, _), reply, exact in zip(schedule(plan), release.released, exact_values(release, engine), strict=True):
        if exact is not None and _adds_noise(step):
            unit = reply.noise / _grid_scale(step)
            added = (reply.value - exact * unit) / reply.noise
            if isinstance(step.mechanism, Peeling | LaplacePeeling):  # only what was picked carries noise
                added = added[reply.value != 0.0]
            found.append((step.name, isinstance(step.mechanism, Gaussian | Peeling), added))
    return found


def check_noise_scale(plan: Plan, engine: Engine, *, enough: int = 1) -> None:
    """Each step's noise has the scale that its multiplier and sensitivity promise.

    Exactly, with randomness that always draws the same quantile; and in law, over so many runs that every step has
    `enough` noises. With 48 of them half the scale is seen with certainty in law alone.
    """
    added = defaultdict(list)
    check_pick_scale(plan, engine)
    check_tilt_scale(plan, engine)
    check_steady_noise(plan, engine)
    for seed in range(_runs(plan, enough)):
        for name, gaussian, noise in noise_of(plan, engine, Simulation(seed)):
            # |Laplace| is exponential; twice the sum of exponentials is chi-squared with two degrees for each.
            added[name, gaussian].append(np.square(noise) if gaussian else 2.0 * np.abs(noise))
    for (name, gaussian), parts in added.items():
        values = np.concatenate(parts)
        law = chi2(values.size if gaussian else 2 * values.size)
        tail = min(law.cdf(values.sum()), law.sf(values.sum()))
        assert tail > LEVEL, f"step {name!r}: noise of the wrong scale (mean square or magnitude {values.mean():.3g})"


class _Steady(Simulation):
    """Every uniform number is Φ(1): noise is one standard deviation, or as many Laplace scales as that quantile is."""

    def uniform(self, size):
        return np.full(size, float(ndtr(1.0)))


def check_steady_noise(plan: Plan, engine: Engine) -> None:
    """Where every draw is the same quantile of its law, all that was added is that quantile, to a step of the grid."""
    least = min((_grid_scale(step) for step in plan.steps if _adds_noise(step)), default=math.inf)
    for name, gaussian, noise in noise_of(plan, engine, _Steady(0)):
        quantile = 1.0 if gaussian else -math.log(2.0 * ndtr(-1.0))
        close = np.allclose(noise, quantile, rtol=1e-6, atol=1.0 / least)
        assert close, f"step {name!r}: noise of the wrong scale ({np.median(noise):.3g} instead of {quantile:.3g})"


def _grid_scale(step: Step) -> float:
    return step.mechanism.noise(step.multiplier, step.sensitivity, step.dimension)


def _runs(plan: Plan, enough: int) -> int:
    noises = Counter()
    for step in plan.steps:
        if _adds_noise(step):
            noises[step.name] += step.count * step.dimension
    return math.ceil(enough / min(noises.values(), default=math.inf))


def _adds_noise(step: Step) -> bool:
    return not step.mechanism.selects and step.mechanism.norm != "tilt"


def tilts_of(plan: Plan, engine: Engine, randomness: Randomness) -> list[tuple[Step, np.ndarray]]:
    """Return the linear term of every perturbed objective of a run, in units of its declared scale."""
    if not any(step.mechanism.norm == "tilt" for step in plan.steps):
        return []
    found, minimise = [], PerturbedMinimiser.minimise

    def listening(self, source, tilt, reach):
        found.append(tilt.copy())
        return minimise(self, source, tilt, reach)

    with patch.object(PerturbedMinimiser, "minimise", listening):
        release = run(plan, engine, randomness)
    planned = zip(schedule(plan), release.ledger.entries, strict=True)
    steps = [step for (step, _), entry in planned if step.mechanism.norm == "tilt" and not entry.skipped]
    return [(step, tilt / (step.multiplier * step.sensitivity)) for step, tilt in zip(steps, found, strict=True)]


def check_tilt_scale(plan: Plan, engine: Engine, *, enough: int = 192) -> None:
    """Each linear term, and the noise for its tolerance, has the scale that the plan promises."""
    tilted = [step for step in plan.steps if step.mechanism.norm == "tilt"]
    listening, lengths = _Listening(0), defaultdict(list)
    runs = math.ceil(enough / min((step.count * step.dimension for step in tilted), default=math.inf))
    for _ in range(runs):
        for step, tilt in tilts_of(plan, engine, listening):
            lengths[step].append(np.linalg.norm(tilt))  # a sum of as many exponentials as it has coordinates
    for step, values in lengths.items():
        law = chi2(2 * step.dimension * len(values))
        tail = min(law.cdf(2.0 * sum(values)), law.sf(2.0 * sum(values)))
        assert tail > LEVEL, f"step {step.name!r}: linear terms of the wrong scale (mean length {np.mean(values):.3g})"
        slack = math.sqrt(step.dimension) * math.ldexp(step.sensitivity, -step.mechanism.precision)
        last = slack * step.multiplier / step.mechanism.release_share
        heard = [scale for scale in listening.laplace_scales if math.isclose(scale, last, rel_tol=1e-9)]
        assert len(heard) >= len(values), f"step {step.name!r}: no noise for the solver's tolerance"


class _Listening(Simulation):
    """Remembers the scale of every pick's noise, and of all Laplace noise."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.scales: list[float] = []
        self.laplace_scales: list[float] = []

    def laplace(self, value, scale):
        self.laplace_scales.append(scale)
        return super().laplace(value, scale)

    def top(self, value, scale, count):
        self.scales.append(scale)
        return super().top(value, scale, count)


def check_pick_scale(plan: Plan, engine: Engine) -> None:
    """Each pick's Gumbel noise has the scale that its multiplier and sensitivity promise."""
    listening = _Listening(0)
    release = run(plan, engine, listening)
    planned = zip(schedule(plan), release.ledger.entries, strict=True)
    picked = (NoisyMax, TopK, Peeling)
    picks = [step for (step, _), entry in planned if isinstance(step.mechanism, picked) and not entry.skipped]
    np.testing.assert_allclose(listening.scales, [step.multiplier * step.sensitivity for step in picks], rtol=1e-9)


def check_noise_is_fresh(plan: Plan, engine: Engine, randomness: Randomness) -> None:
    """No two releases, within a run or in two of them, carry the same noise, and neighbours are uncorrelated."""
    added = [noise for _ in range(2) for _, _, noise in noise_of(plan, engine, randomness)]
    added += [tilt for _ in range(2) for _, tilt in tilts_of(plan, engine, randomness)]
    if not added:  # picks alone: an index shows no noise
        return
    first = np.sort([noise[0] for noise in added])
    assert np.all(np.diff(first) > 1e-9), "two releases carry the same noise"
    products = [one[: other.size] * other[: one.size] for one, other in pairwise(added)]
    z = np.concatenate(products)
    assert abs(z.sum()) < 6.0 * math.sqrt(np.square(z).sum()), "noise of consecutive releases is correlated"


def check_blocks(plan: Plan, engine: Engine) -> None:
    """Every release meets the block that the plan says, and the blocks of a step are disjoint and cover all rows."""
    release, watch = watched_run(plan, engine, Simulation(0))
    again = Watched(engine)
    exact_values(release, again)
    assert watch.blocks == again.blocks, "a release met another block"
    for step in plan.steps:
        rows = np.concatenate([Block(k, step.blocks).rows(plan.problem.n) for k in range(step.blocks)])
        assert np.array_equal(np.sort(rows), np.arange(plan.problem.n)), "blocks are no partition"


def check_replay(plan: Plan, engine: Engine, neighbour: Engine, *, seed: int = 0) -> Replay:
    """On a neighbour, statistics move by at most their sensitivity and the solver learns nothing but the releases."""
    return check_replays(plan, engine, [neighbour], seed=seed)[0]


def check_replays(plan: Plan, engine: Engine, neighbours: Iterable[Engine], *, seed: int = 0) -> list[Replay]:
    """The same for several neighbours of one data set."""
    results = []
    for result in replay_each(plan, engine, neighbours, seed=seed):
        assert result.same_questions, "the questions depend on exact data"
        assert result.same_estimate, "the estimate depends on exact data"
        assert max(result.by_step.values()) <= 1.0, f"a statistic moved too far: {result.by_step}"
        assert result.holds
        results.append(result)
    assert results, "no neighbour was tried"
    return results


def check_cost(plan: Plan) -> Privacy:
    """The plan verifies, inside its budget, and a third derivation by hand agrees."""
    cost = verify(plan)
    assert cost.delta == plan.privacy.delta
    assert cost.epsilon <= plan.privacy.epsilon
    assert cost.epsilon >= least_cost(plan) * (1 - 1e-6)
    return cost


def least_cost(plan: Plan) -> float:
    """Return a lower bound on the plan's cost, written down by hand: exact where there is one kind of noise.

    Gaussian steps on all records have μ² = Σ count/multiplier², and Balle and Wang's δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 −
    ε/μ). Laplace steps and picks are charged at δ = 0 only, where they add up.
    """
    return max(_least_cost(met, plan.privacy.delta) for met in _met(plan))


def _met(plan: Plan) -> Iterator[list[tuple[Step, int]]]:
    """Yield for records in all sorts of places how often each step meets them."""
    if all(step.count >= step.blocks for step in plan.steps):
        yield [(step, math.ceil(step.count / step.blocks)) for step in plan.steps]
        return
    n = plan.problem.n
    arcs = [(step, block.arc(n)) for step, block in schedule(plan)]
    for place in {start for _, (start, _) in arcs}:
        counts = Counter(step for step, (start, stop) in arcs if start <= place < stop)
        yield list(counts.items())


def _least_cost(met: list[tuple[Step, int]], delta: float) -> float:
    mu = math.sqrt(sum(count / step.multiplier**2 for step, count in met if isinstance(step.mechanism, Gaussian)))
    if delta == 0.0:
        return math.inf if mu else sum(count * _pure_weight(step.mechanism) / step.multiplier for step, count in met)
    return gaussian_epsilon(mu, delta)


def cost_is_exact(plan: Plan) -> bool:
    """Whether `least_cost` is the cost: δ = 0, or Gaussian noise alone."""
    return plan.privacy.delta == 0.0 or all(isinstance(step.mechanism, Gaussian) for step in plan.steps)


def _pure_weight(mechanism: Mechanism) -> float:
    """Return ε × multiplier of one release: 1 for Laplace noise, 2 for a pick, 3 for a peeled coordinate, and the tilt,
    its change of variables and its tolerance for a perturbed objective.
    """
    if isinstance(mechanism, LaplacePeeling):
        return 3 * mechanism.count
    if isinstance(mechanism, ObjectivePerturbation):
        return 1.0 + mechanism.curvature_share + mechanism.release_share
    return 2 * getattr(mechanism, "count", 1) if mechanism.selects else 1


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the ε of μ-GDP at δ by bisection of Balle and Wang's formula, in logarithms of Mills' ratio."""
    low, high = 0.0, 1.0
    while gaussian_delta(mu, high) > delta:
        low, high = high, 2.0 * high
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    return low


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
    if mu == 0.0:
        return 0.0
    first, second = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return float(ndtr(first) * -np.expm1(min(epsilon + log_ndtr(second) - log_ndtr(first), 0.0)))
