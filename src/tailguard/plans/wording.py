"""The sentences of a certificate: what was enforced and what was assumed, made from the plan alone."""

from tailguard.plans.plan import Plan

__all__ = ["RELATION", "assumed", "enforced", "how_noise_was_made", "inexact", "statement"]

RELATION = "data sets of the same public number n of rows, of which one row is different, in any way"

_EXACT, _SIMULATED = "exact sampling", "simulation from seed"


def how_noise_was_made(plan: Plan, label: str) -> tuple[bool, bool]:
    """Return whether a label of numerics stands for private noise, and whether all of it was sampled exactly."""
    exact = label.startswith(_EXACT) and not inexact(plan)
    return not label.startswith(_SIMULATED), exact


def inexact(plan: Plan) -> str:
    """Return what a label of numerics adds about steps whose noise cannot be sampled exactly; often nothing."""
    floats = [step.name for step in plan.steps if not step.mechanism.exact]
    return f"; floating-point sampling in {', '.join(floats)}" if floats else ""


def statement(plan: Plan, private: bool) -> str:
    """Return the promise in one sentence."""
    if not private:
        return "NOT PRIVATE: the noise comes from a seed and can be subtracted again."
    return f"({plan.privacy})-differential privacy for replacing any one of {plan.problem.n} rows by any other row."


def enforced(plan: Plan) -> tuple[str, ...]:
    """Return what the program made sure of, whatever the rows are."""
    kinds = ", ".join(sorted({step.statistic for step in plan.steps}))
    releases = sum(step.count for step in plan.steps)
    return (
        f"What one row adds to a statistic is bounded by the program, for any values; statistics: {kinds}.",
        f"The kind, the number ({releases}) and the noise of all releases were fixed before any row was read.",
        "What was performed is what was planned, release by release; one that was passed over is charged all the same.",
        "A row with a missing or infinite value adds nothing, and the number of rows stays what it was.",
    )


def assumed(plan: Plan, session: bool, exact: bool) -> tuple[str, ...]:
    """Return what must be true outside the program for the promise to hold, and what accuracy alone rests on."""
    problem = plan.problem
    facts = [
        f"n = {problem.n} rows, d = {problem.d} columns, their names, and every number in the plan are public: none "
        "was looked up in the rows.",
        "A row is protected, not a person: k rows of one person cost k times ε, and δ grows more than that.",
        "Nothing was done to the rows beforehand that looks at more than one row at a time, such as scaling, imputing, "
        "filtering or choosing columns.",
        "The system's generator of random bits is unpredictable, and running times are not shown.",
    ]
    if session:
        facts.append("Other releases from the same rows are paid by the session's ledger, within its total budget.")
    else:
        facts.append("Other releases from the same rows, if any, cost extra and are not counted here.")
    if not exact:
        facts.append(
            "Noise was sampled in floating point, in part or all of it: its law is that of the proofs but for rounding."
        )
    if problem.moment is not None:
        facts.append("An assumption on moments was made; accuracy may rest on it, and privacy does not.")
    if problem.scales is not None:
        facts.append(
            "Centres or scales were given as public: they were not computed from the rows. Accuracy rests on their "
            "being about right, and privacy does not."
        )
    return tuple(facts)
