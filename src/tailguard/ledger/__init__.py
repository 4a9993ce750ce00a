"""A total budget for all fits to one data set, in a file that survives crashes: charged before a release."""

from tailguard.ledger.charge import Charge
from tailguard.ledger.session import Session, session_of
from tailguard.ledger.statement import Statement

__all__ = ["Charge", "Session", "Statement", "session_of"]
