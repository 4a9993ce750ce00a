"""Solvers, one class a file; `solvers()` is the registry that the runner goes through."""

from collections.abc import Callable, Sequence

from benchmarks.objective import Solver
from benchmarks.solvers import (
    adassp,
    clipped_mean,
    coinpress,
    diffprivlib,
    dp_gd,
    frank_wolfe,
    jax_privacy,
    objective_perturbation,
    opacus,
    opendp,
    robust,
    tukey_em,
)
from benchmarks.solvers.non_private import NonPrivate
from benchmarks.solvers.null import Null
from benchmarks.solvers.ours import Tailguard
from benchmarks.solvers.private_null import PrivateNull

__all__ = ["REGISTRY", "NonPrivate", "Null", "PrivateNull", "Tailguard", "solvers"]

REGISTRY: list[Callable[[], Sequence[Solver]]] = [
    lambda: [Null(), NonPrivate(), PrivateNull(), Tailguard()],
    robust.make,
    clipped_mean.make,
    coinpress.make,
    dp_gd.make,
    adassp.make,
    tukey_em.make,
    objective_perturbation.make,
    frank_wolfe.make,
    opacus.make,
    jax_privacy.make,
    diffprivlib.make,
    opendp.make,
]
"""Makers of solvers: each answers with objects, one a variant. A new file adds a line."""


def solvers() -> list[Solver]:
    """Return every solver, variants included, in the order of the tables."""
    return [solver for make in REGISTRY for solver in make()]
