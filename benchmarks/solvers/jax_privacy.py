"""jax-privacy's DP-SGD, in its own environment."""

from benchmarks.objective import Solver
from benchmarks.solvers.noisy_sgd import OWN, TUNED, NoisySGD, tuned

__all__ = ["JaxPrivacy", "make"]


class JaxPrivacy(NoisySGD):
    """jax-privacy: `clipped_grad`, `gaussian_privatizer` and, in its own relation, `CyclicPoissonSampling`."""

    peer, title, cost, slow = "jax_privacy", "jax-privacy", 0.1, True


def make() -> list[Solver]:
    """Return the rows: as a user would, tuned by an oracle, and tuned in the library's own relation (zero-out)."""
    few = {pair: TUNED[pair] for pair in ((1.0, 0.1), (3.0, 0.4), (10.0, 0.2))}
    own = {pair: OWN[pair] for pair in ((1.0, 0.05), (3.0, 0.2), (10.0, 0.1))}
    return [JaxPrivacy(), *tuned(JaxPrivacy, few), *tuned(JaxPrivacy, own, own=True)]
