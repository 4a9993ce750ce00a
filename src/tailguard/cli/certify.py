"""`tailguard certify`: sign a certificate."""

from pathlib import Path
from typing import Annotated

import typer

from tailguard.cli.console import check_writable, json_text, say, say_json, working, write
from tailguard.cli.options import Json

__all__ = ["certify"]


def certify(
    certificate: Annotated[Path, typer.Argument(help="Certificate from 'fit --certificate'.", show_default=False)],
    key: Annotated[Path, typer.Option(help="Your Ed25519 private key, PEM without a password.", show_default=False)],
    output: Annotated[Path | None, typer.Option(help="File to write; the certificate itself by default.")] = None,
    json: Json = False,
) -> None:
    """Sign a certificate with your key, after recomputing it.

    Keys: openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout -out public.pem

    Example: tailguard certify certificate.json --key key.pem
    """
    with working("Recomputing the certificate", json):
        from tailguard.cli.certificate_file import read_certificate, signed

        target = certificate if output is None else output
        check_writable(target)
        document = signed(read_certificate(certificate, needed=True) or {}, key)
        write(target, json_text(document))
    signer = document["signature"]["public_key"]
    if json:
        say_json({"signed_by": signer, "file": str(target)})
    else:
        say(f"Signed by {signer}.")
