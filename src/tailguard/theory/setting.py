"""The public numbers that a rate is a function of, checked once for every theorem."""

import math
from dataclasses import dataclass

from tailguard._validate import integer, real, refuse

__all__ = ["Setting"]

_LEAST_LOG = 1.25 / math.e  # up to this δ, ln(1.25/δ) ≥ 1, which the proofs of Tao et al. use


@dataclass(frozen=True)
class Setting:
    """A problem as the theorems see it; every theorem uses some of these numbers.

    The papers write the moment assumption in two ways. Here it is always E|·|^p ≤ M^p, as in `tailguard.Moment`: p is
    `order` and M is `bound`. Tao et al. 2022 write p = 1 + v and u = M^p, so that u^(1/(1+v)) = M; and their v/(1+v)
    and the (p − 1)/p of Zhao et al. 2024 are the same κ = 1 − 1/p. Scaling the data by c scales M by c.

    Parameters
    ----------
    n : int
        Number of records.
    d : int, default=1
        Dimension.
    epsilon, delta : float, default=1.0 and 1e-6
        The budget; δ = 0 is pure. Theorems that use the classical formula of the Gaussian mechanism ask for ε ≤ 1.
    order : float, default=2.0
        p > 1.
    bound : float, default=1.0
        M > 0.
    failure : float, default=0.1
        The whole probability with which a bound that holds "with high probability" may fail.
    diameter : float, default=1.0
        Diameter of the parameter space (Δ of Tao et al. 2022, L of Zhao et al. 2024), in the ℓ1 norm for the polytopes
        of Hu et al. 2022 (‖W‖₁): 2 for the unit ball of either norm.
    smoothness, convexity : float, default=1.0
        β and α: the population risk is β-smooth and α-strongly convex, α ≤ β. In the sparse theorems γ and μ, both for
        sparse points only.
    sparsity : int, default=1
        s*, the number of non-zero coordinates in the sparse theorems.
    vertices : int or None, default=None
        |V|, the number of vertices of a polytope; None is an ℓ1 ball, which has 2d.

    Examples
    --------
    >>> Setting(n=1000, order=1.5).power
    0.33333333333333337
    """

    n: int
    d: int = 1
    epsilon: float = 1.0
    delta: float = 1e-6
    order: float = 2.0
    bound: float = 1.0
    failure: float = 0.1
    diameter: float = 1.0
    smoothness: float = 1.0
    convexity: float = 1.0
    sparsity: int = 1
    vertices: int | None = None

    def __post_init__(self) -> None:
        smoothness = real("smoothness", self.smoothness, "Setting", above=0.0)
        d = integer("d", self.d, "Setting")
        checked = {
            "n": integer("n", self.n, "Setting"),
            "d": d,
            "epsilon": real("epsilon", self.epsilon, "Setting", above=0.0),
            "delta": real("delta", self.delta, "Setting", at_least=0.0, below=1.0),
            "order": real("order", self.order, "Setting", above=1.0),
            "bound": real("bound", self.bound, "Setting", above=0.0),
            "failure": real("failure", self.failure, "Setting", above=0.0, below=1.0),
            "diameter": real("diameter", self.diameter, "Setting", above=0.0),
            "smoothness": smoothness,
            "convexity": real("convexity", self.convexity, "Setting", above=0.0, at_most=smoothness),
            "sparsity": integer("sparsity", self.sparsity, "Setting", at_most=d),
        }
        if self.vertices is not None:
            checked["vertices"] = integer("vertices", self.vertices, "Setting")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def power(self) -> float:
        """κ = 1 − 1/p, the exponent of every private rate."""
        return 1.0 - 1.0 / self.order

    @property
    def condition(self) -> float:
        """β/α, the condition number (γ/μ of the sparse theorems)."""
        return self.smoothness / self.convexity

    @property
    def rho(self) -> float:
        """ρ = ε²/(1 + 2√ln(1/δ))², Zhao et al. 2024, (15): for ρ ≤ 1, ρ-zCDP implies (ε, δ)-DP."""
        real("delta", self.delta, "rho", above=0.0)
        return (self.epsilon / (1.0 + 2.0 * math.sqrt(math.log(1.0 / self.delta)))) ** 2

    def private(self, complexity: float) -> float:
        """Return (complexity/(nε))^κ, the factor that all private rates share."""
        return float((complexity / (self.n * self.epsilon)) ** self.power)

    def check(
        self,
        owner: str,
        *,
        least_order: float = 1.0,
        greatest_order: float = math.inf,
        most_epsilon: float = math.inf,
        approximate: bool = False,
        scalar: bool = False,
    ) -> None:
        """Raise the library's sentence unless a theorem's conditions hold.

        Parameters
        ----------
        owner : str
            The function that asks.
        least_order, greatest_order : float
            Limits of p.
        most_epsilon : float
            Largest ε.
        approximate : bool
            Whether δ > 0 is needed, and small enough for ln(1.25/δ) ≥ 1.
        scalar : bool
            Whether the theorem is about d = 1.
        """
        real("order", self.order, owner, at_least=least_order, at_most=greatest_order)
        real("epsilon", self.epsilon, owner, at_most=most_epsilon)
        if approximate:
            real("delta", self.delta, owner, above=0.0, at_most=_LEAST_LOG)
        if scalar and self.d != 1:
            raise refuse("d", owner, "1", self.d)
