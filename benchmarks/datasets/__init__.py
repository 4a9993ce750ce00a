"""Data sets, one class a file."""

from benchmarks.datasets.linear import Linear
from benchmarks.datasets.logistic import LogisticTask
from benchmarks.datasets.student import Student

__all__ = ["Linear", "LogisticTask", "Student"]
