"""Differentially private models for heavy-tailed data, without asking anyone for a bound on the data."""

__version__ = "0.1.0"
