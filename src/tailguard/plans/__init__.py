"""Plans and releases: what is promised before any record is read, and what leaves afterwards."""

from tailguard.plans.certificate import Certified, certificate_schema, check_certificate
from tailguard.plans.codec import digest, dumps, loads
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Moment, Problem
from tailguard.plans.release import Entry, Ledger, Receipt, Release
from tailguard.plans.signature import check_signature, sign
from tailguard.plans.step import Step
from tailguard.plans.verify import verify
from tailguard.solvers.scales import Scales

__all__ = [
    "Certified",
    "Entry",
    "Ledger",
    "Moment",
    "Plan",
    "Problem",
    "Receipt",
    "Release",
    "Scales",
    "Step",
    "certificate_schema",
    "check_certificate",
    "check_signature",
    "digest",
    "dumps",
    "loads",
    "sign",
    "verify",
]
