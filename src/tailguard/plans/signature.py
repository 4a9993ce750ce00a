"""Signatures of certificates: Ed25519, through the optional package `cryptography`.

A signature must be checkable by people who cannot make one. That rules out a shared secret (HMAC, which the standard
library has): whoever can check it can forge it.
"""

import base64
from typing import Any

from tailguard.errors import ParameterError, PlanError
from tailguard.plans.codec import canonical

__all__ = ["check_signature", "sign"]


def sign(certificate: dict[str, Any], key: bytes) -> dict[str, Any]:
    """Return the certificate with a signature.

    Parameters
    ----------
    certificate : dict
        As `Release.certificate` makes it; an earlier signature is replaced.
    key : bytes
        An Ed25519 private key in PEM, without a password, for instance from `openssl genpkey -algorithm ed25519`.
    """
    crypto = _cryptography()
    try:
        private = crypto.load_pem_private_key(key, password=None)
    except (ValueError, TypeError):
        private = None
    if not isinstance(private, crypto.Ed25519PrivateKey):
        raise ParameterError("The key must be an Ed25519 private key in PEM, without a password.")
    public = private.public_key().public_bytes_raw()
    unsigned = {**certificate, "signature": None}
    value = private.sign(canonical(unsigned).encode())
    return {**unsigned, "signature": {"algorithm": "Ed25519", "public_key": _text(public), "value": _text(value)}}


def check_signature(certificate: dict[str, Any], key: bytes | None = None) -> str:
    """Return the public key that signed a certificate, in base64, after a look at the signature.

    Parameters
    ----------
    certificate : dict
        One that `check_certificate` has found good.
    key : bytes or None, default=None
        The signer's public key in PEM. Without it, the signature is checked against the key that the certificate itself
        names, which shows that nothing was altered since, and not who signed.
    """
    crypto, signature = _cryptography(), certificate["signature"]
    if signature is None:
        raise PlanError("The certificate is not signed.")
    raw = base64.b64decode(signature["public_key"])
    if key is not None and _public(crypto, key) != raw:
        raise PlanError("The certificate was signed with another key.")
    signed = canonical({**certificate, "signature": None}).encode()
    try:
        crypto.Ed25519PublicKey.from_public_bytes(raw).verify(base64.b64decode(signature["value"]), signed)
    except (crypto.InvalidSignature, ValueError):
        raise PlanError("The certificate was altered: its signature does not fit its content.") from None
    return str(signature["public_key"])


def _public(crypto: Any, key: bytes) -> bytes:
    try:
        public = crypto.load_pem_public_key(key)
    except (ValueError, TypeError):
        public = None
    if not isinstance(public, crypto.Ed25519PublicKey):
        raise ParameterError("The key must be an Ed25519 public key in PEM.")
    return bytes(public.public_bytes_raw())


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


class _Cryptography:
    """The names of the package that are used here."""

    def __init__(self) -> None:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

        self.InvalidSignature = InvalidSignature
        self.Ed25519PrivateKey, self.Ed25519PublicKey = Ed25519PrivateKey, Ed25519PublicKey
        self.load_pem_private_key, self.load_pem_public_key = load_pem_private_key, load_pem_public_key


def _cryptography() -> Any:
    try:
        return _Cryptography()
    except ImportError:
        raise ParameterError("Signatures need the package cryptography: pip install 'tailguard[sign]'.") from None
