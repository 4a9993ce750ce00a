"""The library's one sentence about a wrong parameter, as a pattern to match."""

import re


def sentence(name: str, owner: str, rule: str, got: str = ".*") -> str:
    """Pattern of the whole message; `got` is itself a pattern."""
    start = re.escape(f"The '{name}' parameter of {owner} must be {rule}. Got ")
    return rf"^(?s:{start}{got} instead\.)$"
