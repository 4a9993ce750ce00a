"""Checks of the promise on data: replay on neighbouring data sets."""

from tailguard.audit.neighbour import Neighbour
from tailguard.audit.replay import Change, Replay, replay, replay_plan

__all__ = ["Change", "Neighbour", "Replay", "replay", "replay_plan"]
