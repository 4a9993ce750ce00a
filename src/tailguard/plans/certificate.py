"""Certificates: what a release promises, as a JSON document that anybody can recompute without data.

Almost every field follows from the plan inside, and `check` computes it again. What only the run could know (how noise
was made, which versions, which result) is covered by the checksum against accidents, and by a signature against intent.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any

from tailguard.errors import PlanError
from tailguard.plans import wording
from tailguard.plans.codec import canonical, decode, digest, encode, strict_json
from tailguard.plans.plan import Plan
from tailguard.plans.result import result_hash, result_of
from tailguard.plans.schema import mismatch
from tailguard.plans.verify import verify
from tailguard.privacy.budget import Privacy
from tailguard.privacy.composition import epsilon

if TYPE_CHECKING:
    from tailguard.plans.release import Release

__all__ = ["Certified", "certificate_schema", "certify", "check_certificate"]

FORMAT, VERSION = "tailguard certificate", 2
_TOLERANCE = 1e-6  # relative, for numbers that another version of a library may round another way


@dataclass(frozen=True)
class Certified:
    """What a certificate was found to promise.

    Attributes
    ----------
    plan : Plan
        The plan inside.
    guarantee : Privacy
        Its cost, recomputed.
    digest : str
        The digest of the plan.
    signer : str or None
        The public key that signed it, in base64; None without a signature. `check_certificate` has not looked at it.
    """

    plan: Plan
    guarantee: Privacy
    digest: str
    signer: str | None


@cache
def certificate_schema() -> dict[str, Any]:
    """Return the JSON schema of certificates."""
    found: dict[str, Any] = json.loads(files("tailguard.plans").joinpath("certificate.schema.json").read_text("utf-8"))
    return found


def certify(release: "Release", issued: str | None = None, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the certificate of a release; `Release.certificate` calls it."""
    release.ledger.check(release.plan)
    if release.private != wording.how_noise_was_made(release.plan, release.numerics)[0]:
        raise PlanError("The release's label of numerics does not say whether its noise was private.")
    told: dict[str, Any] = {
        "issued": issued,
        "numerics": release.numerics,
        "versions": dict(release.versions),
        "result": result_hash({**(names or {}), **result_of(release)}),
        "session": None,
    }
    if release.receipt is not None:
        paid = release.receipt
        budget = {"epsilon": paid.privacy.epsilon, "delta": paid.privacy.delta}
        told["session"] = {"ledger": paid.ledger, "number": paid.number, **budget}
    body = _body(release.plan, told, _skipped(release), release.guarantee.epsilon)
    return {**body, "checksum": _checksum(body), "signature": None}


def check_certificate(document: Any) -> Certified:
    """Recompute a certificate.

    Parameters
    ----------
    document : dict or str
        The certificate, as JSON text or as read from it.

    Returns
    -------
    Certified
        What it promises.

    Raises
    ------
    PlanError
        If it is no certificate, was altered, promises less than the truth, or is that of a simulation.

    Notes
    -----
    The schema, the digest, the cost by two derivations, the events against the plan, and every sentence are recomputed.
    A signature is not looked at here; `tailguard verify` does it.
    """
    if isinstance(document, str):
        document = strict_json(document, "certificate")
    try:
        return _checked(document)
    except RecursionError:
        raise PlanError("The file is no certificate of tailguard: it is nested too deeply.") from None
    except (OverflowError, ValueError) as error:
        if isinstance(error, PlanError):
            raise
        raise PlanError("The file is no certificate of tailguard: it holds what is no number or no text.") from None


def _checked(document: Any) -> Certified:
    _check_version(document)
    wrong = mismatch(document, certificate_schema())
    if wrong is not None:
        raise PlanError(f"The file is no certificate of tailguard: {wrong}.")
    rest = {name: value for name, value in document.items() if name not in ("checksum", "signature")}
    if document["checksum"] != _checksum(rest):
        raise PlanError("The certificate was altered: its checksum does not fit its content.")
    plan = decode(document["plan"])
    if not isinstance(plan, Plan):
        raise PlanError("The certificate holds no plan.")
    guarantee = verify(plan)
    _compare(document, _again(document, plan, guarantee))
    if not document["private"]:
        raise PlanError("The certificate is that of a simulation: it is NOT PRIVATE, whatever its plan promises.")
    signature = document["signature"]
    return Certified(plan, guarantee, digest(plan), None if signature is None else signature["public_key"])


def _check_version(document: Any) -> None:
    """Say what is the matter with a certificate of another version, before its fields are looked at."""
    version = document.get("version") if isinstance(document, dict) and document.get("format") == FORMAT else VERSION
    if isinstance(version, int) and version != VERSION:
        raise PlanError(f"The certificate is of version {version}, and this tailguard reads version {VERSION}.")


def _again(document: dict[str, Any], plan: Plan, guarantee: Privacy) -> dict[str, Any]:
    """Return the certificate that the plan and the facts of the run should have."""
    told = {name: document[name] for name in ("issued", "versions", "result", "session")}
    told["numerics"] = document["numerics"]["label"]
    if not told["numerics"].endswith(wording.inexact(plan)):
        raise PlanError("The certificate was altered: its 'numerics' is not what its plan says.")
    skipped = [part["skipped"] for part in document["events"]]
    if len(skipped) != len(plan.steps):
        raise PlanError("The certificate was altered: its events are not those of its plan.")
    return _body(plan, told, skipped, guarantee.epsilon)


def _compare(document: dict[str, Any], truth: dict[str, Any]) -> None:
    for name, value in truth.items():
        found = document[name]
        if name == "guarantee":
            same = found.keys() == value.keys() and all(
                math.isclose(found[part], number, rel_tol=_TOLERANCE) for part, number in value.items()
            )
        else:
            same = canonical(found) == canonical(value)
        if not same:
            raise PlanError(f"The certificate was altered: its {name!r} is not what its plan says.")


def _body(plan: Plan, told: dict[str, Any], skipped: list[list[int]], recomputed: float) -> dict[str, Any]:
    private, exact = wording.how_noise_was_made(plan, told["numerics"])
    return {
        "format": FORMAT,
        "version": VERSION,
        "private": private,
        "statement": wording.statement(plan, private),
        "guarantee": {
            "epsilon": plan.privacy.epsilon,
            "delta": plan.privacy.delta,
            "recomputed": recomputed,
            "closed_form": epsilon(plan.event, plan.privacy.delta),
        },
        "relation": {"name": plan.relation, "n": plan.problem.n, "meaning": wording.RELATION},
        "digest": digest(plan),
        "plan": encode(plan),
        "events": [_performed(plan, place, missed) for place, missed in enumerate(skipped)],
        "numerics": {"label": told["numerics"], "exact": exact},
        "enforced": list(wording.enforced(plan)),
        "assumed": list(wording.assumed(plan, told["session"] is not None, exact)),
        "versions": told["versions"],
        "result": told["result"],
        "session": told["session"],
        "issued": told["issued"],
    }


def _performed(plan: Plan, place: int, skipped: list[int]) -> dict[str, Any]:
    """Return what the ledger has about one step; release r met block (first + r) mod blocks."""
    step = plan.steps[place]
    missed = sorted(set(skipped))
    if missed != skipped or not all(0 <= release < step.count for release in missed):
        raise PlanError("The certificate was altered: it passes over releases that there are not.")
    return {
        "step": step.name,
        "releases": step.count,
        "first": step.first,
        "blocks": step.blocks,
        "event": encode(step.release_event),
        "skipped": missed,
    }


def _skipped(release: "Release") -> list[list[int]]:
    """Return, for each step, the releases that were passed over and charged; the ledger equals the plan."""
    entries = iter(release.ledger.entries)
    return [
        [place for place, entry in enumerate(islice(entries, step.count)) if entry.skipped]
        for step in release.plan.steps
    ]


def _checksum(body: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(body).encode()).hexdigest()
