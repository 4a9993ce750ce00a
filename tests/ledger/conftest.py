"""A place for ledgers in memory where there is one: killing a process needs no disk, and syncing one takes time."""

import os
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def path():
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder) / "ledger.db"
