"""Estimators with scikit-learn's conventions."""

from tailguard.estimators.linear import LinearRegression
from tailguard.estimators.logistic import LogisticRegression
from tailguard.estimators.mean import Mean
from tailguard.estimators.minimise import minimize

__all__ = ["LinearRegression", "LogisticRegression", "Mean", "minimize"]
