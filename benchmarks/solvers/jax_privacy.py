"""jax-privacy's DP-SGD, in its own environment."""

from benchmarks.objective import Solver
from benchmarks.solvers.noisy_sgd import OWN, TUNED, NoisySGD

__all__ = ["JaxPrivacy", "make"]


class JaxPrivacy(NoisySGD):
    """jax-privacy: `clipped_grad`, `gaussian_privatizer` and, in its own relation, `CyclicPoissonSampling`."""

    peer, title, cost, slow = "jax_privacy", "jax-privacy", 0.1, True


def make() -> list[Solver]:
    """Return the rows: as a user would, tuned by an oracle, and tuned in the library's own relation (zero-out)."""
    return [
        JaxPrivacy(),
        *(JaxPrivacy(*pair) for pair in TUNED[1::3]),
        *(JaxPrivacy(*pair, own=True) for pair in OWN[::2]),
    ]
