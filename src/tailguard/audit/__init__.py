"""Checks of the promise on data: replay on neighbouring data sets, and an attack that guesses on which a fit was."""

from tailguard.audit.attack import Attack, attack, attack_plan
from tailguard.audit.neighbour import Neighbour
from tailguard.audit.replay import Change, Replay, replay, replay_plan

__all__ = ["Attack", "Change", "Neighbour", "Replay", "attack", "attack_plan", "replay", "replay_plan"]
