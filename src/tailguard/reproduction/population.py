"""What a fit is judged by: population risks, and their true constrained minimisers.

In closed form for the squared loss, by one-dimensional integrals for logistic regression with Gaussian features, and
over a large fixed sample otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.optimize import minimize

from tailguard.domains import Domain
from tailguard.reproduction.laws import Law, Single
from tailguard.reproduction.minimise import accelerated, minimise
from tailguard.reproduction.objectives import LogLoss, Objective
from tailguard.solvers.base import Estimate
from tailguard.statistics.arrays import FloatVector

__all__ = ["Population", "gaussian_logistic", "independent_squares", "records", "sampled_logistic"]

_GRID = np.linspace(-9.0, 9.0, 8001)
_WEIGHTS = stats.norm.pdf(_GRID) * (_GRID[1] - _GRID[0])
"""Nodes and weights of integrals over a standard normal; for smooth functions the rule is exact to rounding."""


@dataclass(frozen=True)
class Population:
    """A risk and the models that it is compared with.

    Parameters
    ----------
    risk : callable
        The population risk of a model, up to a constant.
    best : Estimate
        The minimiser over the domain, with a free intercept.
    plain : Estimate
        The minimiser over the domain without an intercept, as in the paper.
    truth : Estimate
        w*, the vector that made the data.
    """

    risk: Callable[[Estimate], float]
    best: Estimate
    plain: Estimate
    truth: Estimate

    def excess(self, model: Estimate) -> float:
        """Return the risk above that of the constrained minimiser."""
        return self.risk(model) - self.risk(self.best)

    def excess_over_truth(self, model: Estimate) -> float:
        """Return the risk above that of w*, which may be negative where w* minimises nothing."""
        return self.risk(model) - self.risk(self.truth)


def independent_squares(features: Law, noise: Law, truth: FloatVector) -> Population:
    """Return E(⟨x, w⟩ + b − y)² − E(noise²) for independent features and y = ⟨x, w*⟩ + noise.

    With e = w − w* it is v‖e‖² + (m·Σe + b)², m and v being mean and variance of a feature: w* is the minimiser.
    Where the noise is not symmetric (the features are then centred) its mean, if it has one, belongs to the intercept,
    which the paper does not have: then only the coefficients are judged, by v‖e‖², which is the paper's excess risk.

    Examples
    --------
    >>> population = independent_squares(Law("normal", 2.0), Law("lognormal", 0.5), np.array([1.0, 0.0]))
    >>> population.excess(Estimate(np.zeros(2)))
    4.0
    """
    mean, variance, judged = features.mean, features.variance, noise.symmetric

    def risk(model: Estimate) -> float:
        error = model.coefficients - truth
        off = mean * float(error.sum()) + model.intercept if judged else 0.0
        return variance * float(error @ error) + off * off

    exact = Estimate(truth)
    return Population(risk, exact, exact, exact)


def gaussian_logistic(features: Law, noise: Law, truth: FloatVector, ridge: float) -> Population:
    """Return the regularised log-loss where features are independent Gaussians and the label is 1{⟨x, w*⟩ + noise > 0}.

    With u = ⟨x, w*⟩ and p = ⟨x, w⟩ + b, the label depends on x through u alone and E[p | u] is linear, so both parts of
    E[log(1 + eᵖ) − t·p] are integrals over one Gaussian. The minimiser has the direction of w*: outside it the
    features are noise, by Jensen's inequality. Its length and intercept are found numerically; it is as sparse as w*.
    """
    sd, length = features.parameter, float(np.linalg.norm(truth))
    score = sd * length * _GRID
    positive = noise.exceeds(-score)
    share, moment = float(_WEIGHTS @ positive), float(_WEIGHTS @ (score * positive))

    def risk(model: Estimate) -> float:
        w, b = model.coefficients, model.intercept
        softplus = float(_WEIGHTS @ np.logaddexp(0.0, b + sd * float(np.linalg.norm(w)) * _GRID))
        share_of_truth = float(w @ truth) / length**2
        return softplus - b * share - share_of_truth * moment + 0.5 * ridge * float(w @ w)

    def along(v: FloatVector, free: bool) -> Estimate:
        return Estimate(float(v[0]) * truth, float(v[1]) if free else 0.0)

    def best(free: bool) -> Estimate:
        def loss(v: FloatVector) -> float:
            return risk(along(v, free))

        return along(minimize(loss, np.array([1.0, 0.0]), tol=1e-12).x, free)

    return Population(risk, best(True), best(False), Estimate(truth))


def sampled_logistic(
    X: Single, noise: Law, truth: FloatVector, ridge: float, domain: Domain, support: bool
) -> Population:
    """Return the regularised log-loss over the rows X, averaged over the labels 1{⟨x, w*⟩ + noise > 0}.

    `support` says that features outside the support of w* are centred and independent of all others: then, by Jensen's
    inequality, the sparse minimiser is the minimiser on the support of w*.
    """
    positive = noise.exceeds(-np.asarray(X @ truth.astype(X.dtype), dtype=np.float64))
    free, fixed = (LogLoss(X, positive, ridge, free) for free in (True, False))
    if not support:
        return Population(free.risk, minimise(free, domain), minimise(fixed, domain), Estimate(truth))
    return Population(free.risk, _on_support(free, truth), _on_support(fixed, truth), Estimate(truth))


def _on_support(objective: Objective, truth: FloatVector) -> Estimate:
    support = np.flatnonzero(truth)
    w = np.zeros(len(truth))
    w[support] = accelerated(objective.restricted(support), lambda v: v)
    return objective.model(w)


def records(free: Objective, fixed: Objective, domain: Domain) -> Population:
    """Return the average loss over a whole data set; its constrained minimiser stands for w*, as in the paper.

    `free` and `fixed` are the same loss with an intercept and without one.
    """
    best, plain = minimise(free, domain), minimise(fixed, domain)
    return Population(free.risk, best, plain, plain)
