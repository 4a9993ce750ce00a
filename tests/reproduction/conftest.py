"""Small settings."""

import pytest

from tests.support.small_figures import TINY


@pytest.fixture
def tiny(monkeypatch):
    """The small grid in place of that of --fast."""
    monkeypatch.setattr("tailguard.reproduction.study.FAST", TINY)
    return TINY
