"""Engines move records to kernels: arrays, sparse matrices, tables and Parquet files."""

from tailguard.engines.base import Engine
from tailguard.engines.opening import open
from tailguard.engines.partition import WHOLE, Block

__all__ = ["WHOLE", "Block", "Engine", "open"]
