"""Estimators with scikit-learn's conventions."""

from tailguard.estimators.encoder import PublicOneHotEncoder
from tailguard.estimators.evaluation import Evaluation, evaluate
from tailguard.estimators.lasso import Lasso
from tailguard.estimators.least_absolute import LeastAbsoluteDeviations
from tailguard.estimators.linear import LinearRegression
from tailguard.estimators.logistic import LogisticRegression
from tailguard.estimators.mean import Mean
from tailguard.estimators.minimise import minimize
from tailguard.estimators.robust import RobustRegression
from tailguard.estimators.selection import Selection, select
from tailguard.estimators.sparse_linear import SparseLinearRegression
from tailguard.estimators.sparse_logistic import SparseLogisticRegression
from tailguard.estimators.sparse_mean import SparseMean
from tailguard.estimators.svc import LinearSVC

__all__ = [
    "Evaluation",
    "Lasso",
    "LeastAbsoluteDeviations",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "Mean",
    "PublicOneHotEncoder",
    "RobustRegression",
    "Selection",
    "SparseLinearRegression",
    "SparseLogisticRegression",
    "SparseMean",
    "evaluate",
    "minimize",
    "select",
]
