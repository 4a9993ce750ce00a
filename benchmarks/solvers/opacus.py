"""Opacus's DP-SGD, in its own environment."""

from benchmarks.objective import Solver
from benchmarks.solvers.noisy_sgd import OWN, TUNED, NoisySGD, tuned

__all__ = ["Opacus", "make"]


class Opacus(NoisySGD):
    """Opacus: `PrivacyEngine.make_private` around one linear layer and SGD."""

    peer, title, cost = "opacus", "Opacus", 0.15


def make() -> list[Solver]:
    """Return the rows: as a user would, tuned by an oracle, and tuned in Opacus's own relation."""
    return [Opacus(), *tuned(Opacus, TUNED), *tuned(Opacus, OWN, own=True)]
