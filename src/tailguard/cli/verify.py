"""`tailguard verify`: recompute the guarantee of a plan, a model or a certificate, without any data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailguard.cli.console import say, say_json, working
from tailguard.cli.options import Json

if TYPE_CHECKING:
    from tailguard.plans import Plan
    from tailguard.privacy import Privacy

__all__ = ["verify"]


def verify(
    file: Annotated[
        Path, typer.Argument(help="Certificate, model from 'fit', or plan from 'plan --json'.", show_default=False)
    ],
    key: Annotated[Path | None, typer.Option(help="Certificate: the signer's public key, PEM.")] = None,
    model: Annotated[Path | None, typer.Option(help="Certificate: the model file that it is for.")] = None,
    session: Annotated[Path | None, typer.Option(help="Certificate: the ledger that paid.")] = None,
    json: Json = False,
) -> None:
    """Recompute the guarantee of a certificate, a plan, or a model; no data are needed.

    Refuses a file that was altered, that costs more than it promises, or that is a simulation.

    Example: tailguard verify certificate.json --model model.json
    """
    with working("Recomputing the cost", json):
        from tailguard.cli.certificate_file import read_certificate, verify_certificate
        from tailguard.cli.model_file import read_plan
        from tailguard.plans import verify as recompute

        document = read_certificate(file, needed=any(option is not None for option in (key, model, session)))
        seen: dict[str, str] = {}
        if document is None:
            plan = read_plan(file)
            cost = recompute(plan)
        else:
            found, seen = verify_certificate(document, key, model, session)
            plan, cost = found.plan, found.guarantee
    if json:
        say_json(_machine(plan, cost, seen))
    else:
        _tell("certificate" if document is not None else "plan", plan, cost, seen)


def _machine(plan: "Plan", cost: "Privacy", seen: dict[str, str]) -> dict[str, Any]:
    from tailguard.plans import digest

    promised, recomputed = ({"epsilon": p.epsilon, "delta": p.delta} for p in (plan.privacy, cost))
    return {"holds": True, "promised": promised, "recomputed": recomputed, "digest": digest(plan), **seen}


def _tell(what: str, plan: "Plan", cost: "Privacy", seen: dict[str, str]) -> None:
    from tailguard.plans import digest

    verdict = (
        "The plan keeps its promise." if what == "plan" else "The certificate is good: its plan keeps its promise."
    )
    say(
        verdict,
        f"  promised    {plan.privacy}",
        f"  recomputed  {cost}",
        f"  for         replacing one of {plan.problem.n} rows; several rows of one person multiply the cost",
        f"  digest      {digest(plan)}",
        *(f"  {name:10s}  {sentence}" for name, sentence in seen.items()),
    )
