"""The command line, one file a verb. Nothing heavy is imported before a command runs."""

from tailguard.cli.main import main

__all__ = ["main"]
