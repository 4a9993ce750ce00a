"""Shared fixtures; puts the project root on the path so that `tests.support` can be imported."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
