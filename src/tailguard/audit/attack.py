"""Attack: an adversary guesses, from all that a fit releases, which of two records is in the data.

The adversary knows all records but one, and the two that this one may be. A coin chooses; the whole fit is run; the
likelihood ratio of everything released decides the guess. (ε, δ)-privacy limits how often guesses can be right, so
many games give a lower bound on ε that holds with a known confidence (Jagielski et al. 2020, Nasr et al. 2023).
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

from tailguard._validate import integer, real
from tailguard.audit.bounds import gdp_mu_lower, noise_upper, recognition, with_noise
from tailguard.audit.game import Pair, play, strongest_pair
from tailguard.audit.memory import Remembering
from tailguard.engines.base import Engine
from tailguard.errors import BudgetError, DataError
from tailguard.estimators.base import PrivateEstimator
from tailguard.plans.plan import Plan
from tailguard.privacy import epsilon
from tailguard.privacy.budget import Privacy
from tailguard.run.randomness import make_randomness

__all__ = ["Attack", "attack", "attack_plan"]

FEWEST = 100


@dataclass(frozen=True)
class Attack:
    """What an attack found. It is computed from exact data, and from simulated noise.

    Attributes
    ----------
    claimed : Privacy
        The plan's promise.
    epsilon_lower : float
        ε is at least this at the promised δ, whatever the mechanisms are. For Gaussian noise and a small δ it stays far
        below the truth, which shows once in 1/δ runs.
    epsilon_by_noise : float
        ε is at least this if the noise is of the planned kinds: the cost of the plan with `noise_upper` × its noise.
    noise_upper : float
        The largest factor on all noise of the plan that fits the guesses. Below 1 there is less noise than planned, or
        a statistic moves too far.
    mu_lower : float
        What the guesses say of μ, for those who know Gaussian differential privacy.
    guessed_right : float
        Share of the runs whose data set was guessed; a coin does ½.
    power, false_alarms : float
        At the threshold of `epsilon_lower`: share of the runs on one data set that were recognised, and of the runs on
        the other that were taken for it.
    runs : int
        Number of whole fits.
    confidence : float
        Probability that all bounds hold, at least.
    records : str
        What the two data sets have in the place of one record.
    numerics : str
        How the noise was made: a simulation, which protects nobody.
    """

    claimed: Privacy
    epsilon_lower: float
    epsilon_by_noise: float
    noise_upper: float
    mu_lower: float
    guessed_right: float
    power: float
    false_alarms: float
    runs: int
    confidence: float
    records: str
    numerics: str

    @property
    def holds(self) -> bool:
        """Whether what was found is compatible with plan and promise; no proof that they are kept."""
        return self.shown <= 1.0 and self.noise_upper >= 1.0

    @property
    def verdict(self) -> str:
        """Return "not broken" or "broken"."""
        return "not broken" if self.holds else "broken"

    @property
    def shown(self) -> float:
        """The larger of both bounds on ε, as a share of the promised ε: how near the attack came."""
        return max(self.epsilon_lower, self.epsilon_by_noise) / self.claimed.epsilon

    def __str__(self) -> str:
        """Return what was done and found, in sentences."""
        least, planned, most = (f"{x:.3g}" for x in (self.epsilon_lower, self.epsilon_by_noise, self.noise_upper))
        lines = (
            f"Attack on the promise {self.claimed}: {self.verdict}.",
            f"{self.runs} fits, {self.numerics}. One record was {self.records}.",
            f"On which data set a fit was, the adversary guessed right in {self.guessed_right:.1%} of them.",
            f"So ε ≥ {least} whatever the mechanisms are, and ε ≥ {planned} with noise of the planned kinds.",
            f"There is at most {most} times the planned noise."
            if self.mu_lower > 0.0
            else "However much noise there is, it explains that.",
            f"This is {self.shown:.0%} of the promised ε, with a confidence of {self.confidence:.4g}.",
        )
        return "\n".join(lines)


def attack(
    estimator: PrivateEstimator,
    data: tuple[Any, ...],
    neighbour: tuple[Any, ...] | None = None,
    *,
    runs: int = 1000,
    row: int = 0,
    confidence: float = 0.99,
    seed: int = 0,
) -> Attack:
    """Attack a fit: run it many times on two data sets that differ in one record, and guess on which it was.

    Parameters
    ----------
    estimator : estimator of tailguard
        Its parameters give the plan; it is not changed.
    data : tuple (X,) or (X, y)
        What would be passed to `fit`.
    neighbour : tuple (X,) or (X, y), optional
        The same, different in one record. Without it, `row` is replaced on both sides, by two records, mostly far out,
        that the plan's statistics tell apart best.
    runs : int, default=1000
        Number of fits, at least 100. How near the bounds come depends on it.
    row : int, default=0
        Number of the row that is replaced where no neighbour is given.
    confidence : float, default=0.99
        Probability that no bound is above the truth, at least.
    seed : int, default=0
        Seed of coins and noise: all fits are simulations.

    Returns
    -------
    Attack
        Printable; `holds` says whether the promise was broken.

    Notes
    -----
    What is returned is computed from exact data: it is for those who may see them, and must not be published.

    An attack can show that a promise is broken, never that it is kept: `tailguard.verify` and the proofs do that, and
    `replay` shows what depends on exact data outside the noisy releases.

    Examples
    --------
    >>> import numpy as np, tailguard as tg
    >>> X = np.random.default_rng(0).standard_t(3, size=(200, 1))
    >>> model = tg.Mean(epsilon=8.0, delta=1e-6, method="clipping", moment=tg.Moment(2.0, 1.0))
    >>> found = tg.audit.attack(model, (X,), runs=500)
    >>> found.verdict, 5.0 < found.epsilon_by_noise <= 8.0
    ('not broken', True)
    """
    if estimator.session is not None:
        raise BudgetError("An attack is computed from exact data, and no session pays for that: leave session out.")
    first = copy(estimator)._open(*data)
    plan = estimator.plan(first.n, first.d, names=first.names or ())
    options: dict[str, Any] = {"runs": runs, "confidence": confidence, "seed": seed}
    if neighbour is None:
        return attack_plan(plan, first, row=row, **options)
    second = copy(estimator)._open(*neighbour)
    if (first.n, first.d) != (second.n, second.d):
        raise DataError("Neighbouring data sets must have the same number of rows and features.")
    return attack_plan(plan, first, second, **options)


def attack_plan(
    plan: Plan,
    data: Engine,
    neighbour: Engine | None = None,
    *,
    runs: int = 1000,
    row: int = 0,
    confidence: float = 0.99,
    seed: int = 0,
    advance: Callable[[int], None] = lambda _: None,
) -> Attack:
    """Attack a plan on two data sets that differ in one record; see `attack`. `advance` is told of every run."""
    integer("runs", runs, "attack", at_least=FEWEST)
    risk = 0.5 * (1.0 - real("confidence", confidence, "attack", above=0.0, below=1.0))
    pair = strongest_pair(plan, data, row, seed) if neighbour is None else _given(data, neighbour)
    first, scores = play(plan, pair, runs, seed, advance)
    right = int(((scores > 0.0) == first).sum())
    found = recognition(scores, first, plan.privacy.delta, risk)
    most = noise_upper(plan.event, right, runs, risk)
    return Attack(
        claimed=plan.privacy,
        epsilon_lower=found.epsilon,
        epsilon_by_noise=epsilon(with_noise(plan.event, most), plan.privacy.delta) if most < 1e9 else 0.0,
        noise_upper=most,
        mu_lower=gdp_mu_lower(right, runs, risk),
        guessed_right=right / runs,
        power=found.power,
        false_alarms=found.false_alarms,
        runs=runs,
        confidence=confidence,
        records=pair.name,
        numerics=make_randomness(seed).label,
    )


def _given(data: Engine, neighbour: Engine) -> Pair:
    return Pair("as given", Remembering(data), Remembering(neighbour))
