"""How many columns a sparse model may have: a public number, or a private choice that the budget pays for."""

from typing import Literal

from tailguard._validate import integer, refuse
from tailguard.domains import Domain, Sparse
from tailguard.estimators.base import LinearModel
from tailguard.plans import Problem
from tailguard.privacy import Privacy
from tailguard.recipes.sparse_path import largest_sparsity

__all__ = ["SparseModel", "sparse_vectors"]


def sparse_vectors(owner: str, sparsity: object, radius: float | None, d: int) -> Sparse:
    """Return the domain of vectors with so many non-zero entries, or raise the library's sentence."""
    return Sparse(d, integer("sparsity", sparsity, owner, at_most=d), radius)


class SparseModel(LinearModel):
    """A linear model with few coefficients that are not 0."""

    sparsity: int | Literal["auto"]

    def _domain(self, n: int, d: int) -> Domain:
        owner = type(self).__name__
        if not isinstance(self.sparsity, str):
            return sparse_vectors(owner, self.sparsity, self.radius, d)
        if self.sparsity != "auto":
            raise refuse("sparsity", owner, "an integer or 'auto'", self.sparsity)
        if self.method not in ("auto", "sparse_path"):
            raise refuse("sparsity", owner, f"an integer for the method {self.method!r}", self.sparsity)
        most = largest_sparsity(n, d, Privacy(self.epsilon, self.delta))
        return sparse_vectors(owner, most, self.radius, d)

    def _chosen(self, problem: Problem, privacy: Privacy) -> str:
        return "sparse_path" if self.sparsity == "auto" else super()._chosen(problem, privacy)
