"""Other people's libraries, each in its own virtual environment, talked to through pipes."""

from benchmarks.peers.client import PeerError, PeerTimeoutError, call, close_all
from benchmarks.peers.environments import PEERS, Environment, environment

__all__ = ["PEERS", "Environment", "PeerError", "PeerTimeoutError", "call", "close_all", "environment"]
