"""`tailguard verify`: recompute the guarantee of a plan or of a model, without any data."""

from pathlib import Path
from typing import Annotated

import typer

from tailguard.cli.console import say, say_json, working
from tailguard.cli.options import Json

__all__ = ["verify"]


def verify(
    file: Annotated[Path, typer.Argument(help="Plan from 'plan --json', or model from 'fit'.", show_default=False)],
    json: Json = False,
) -> None:
    """Recompute the guarantee of a plan file, or of the plan inside a model file; no data are needed.

    Refuses a file that was altered, that costs more than it promises, or that is a simulation.

    Example: tailguard verify plan.json
    """
    with working("Recomputing the cost"):
        from tailguard.cli.model_file import read_plan
        from tailguard.plans import digest
        from tailguard.plans import verify as recompute

        plan = read_plan(file)
        cost = recompute(plan)
    if json:
        promised, recomputed = ({"epsilon": p.epsilon, "delta": p.delta} for p in (plan.privacy, cost))
        say_json({"holds": True, "promised": promised, "recomputed": recomputed, "digest": digest(plan)})
        return
    say(
        "The plan keeps its promise.",
        f"  promised    {plan.privacy}",
        f"  recomputed  {cost}",
        f"  for         replacing one of {plan.problem.n} rows; several rows of one person multiply the cost",
        f"  digest      {digest(plan)}",
    )
