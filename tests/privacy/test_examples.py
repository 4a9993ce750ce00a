"""The examples in the docstrings run and say the truth."""

import doctest
import importlib
import sys

import pytest


@pytest.mark.parametrize("name", ["budget", "gaussian", "composition", "calibration", "recompute"])
def test_examples(name: str) -> None:
    importlib.import_module(f"tailguard.privacy.{name}")  # the package exports a function named like one module
    results = doctest.testmod(sys.modules[f"tailguard.privacy.{name}"])
    assert results.attempted > 0
    assert results.failed == 0
