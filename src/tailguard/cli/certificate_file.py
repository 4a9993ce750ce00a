"""Certificates as files: read, checked against what they are for, signed."""

from pathlib import Path
from typing import Any

from tailguard.cli.model_file import read_result, read_text
from tailguard.errors import DataError, PlanError
from tailguard.ledger import Session
from tailguard.plans import Certified, check_certificate, check_signature, sign
from tailguard.plans.certificate import FORMAT
from tailguard.plans.codec import strict_json
from tailguard.plans.result import result_hash

__all__ = ["read_certificate", "signed", "verify_certificate"]


def read_certificate(path: Path, needed: bool) -> dict[str, Any] | None:
    """Return a certificate as it stands in a file, unchecked; None for another file, if none is needed."""
    text = read_text(path)
    try:
        document = strict_json(text, "certificate")
    except PlanError:
        if needed or FORMAT in text:
            raise
        return None
    if isinstance(document, dict) and document.get("format") == FORMAT:
        return document
    if needed:
        raise PlanError(f"{str(path)!r} is no certificate.")
    return None


def verify_certificate(
    document: dict[str, Any], key: Path | None, model: Path | None, session: Path | None
) -> tuple[Certified, dict[str, str]]:
    """Return what a certificate promises, and what was seen about its signature, its model and its ledger."""
    found = check_certificate(document)
    seen = {"signature": _signature(document, key)}
    if model is not None:
        if result_hash(read_result(model)) != document["result"]:
            raise PlanError(f"The certificate is not for the model in {str(model)!r}.")
        seen["model"] = "is the one that the certificate is for"
    if session is not None:
        seen["session"] = _line(document, session)
    return found, seen


def signed(document: dict[str, Any], key: Path) -> dict[str, Any]:
    """Return a certificate with a signature; one that is not good, or is a simulation, is not signed."""
    check_certificate(document)
    return sign(document, _key(key))


def _signature(document: dict[str, Any], key: Path | None) -> str:
    if document["signature"] is None and key is None:
        return "none"
    signer = check_signature(document, None if key is None else _key(key))
    return f"good, by {signer}" + ("" if key else "; whose key that is was not asked (--key)")


def _line(document: dict[str, Any], path: Path) -> str:
    """Return which line of a ledger paid, or refuse."""
    paid, statement = document["session"], Session(path).check()
    lines = {charge.number: charge.digest for charge in statement.charges}
    right = paid is not None and (paid["ledger"], paid["epsilon"], paid["delta"]) == (
        statement.identity,
        statement.privacy.epsilon,
        statement.privacy.delta,
    )
    if not right or lines.get(paid["number"]) != document["digest"]:
        raise PlanError(f"The ledger {str(path)!r} has not paid for this certificate.")
    return f"paid by line {paid['number']} of {len(lines)}; total budget {statement.privacy}"


def _key(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise DataError(f"The key {str(path)!r} cannot be read.") from None
