"""Finds agents of other libraries among the values of a module, without importing these libraries."""

from typing import Any

from outlast.kernel.agents.agent import Agent

EXTRAS = {"pydantic_ai": "pydantic-ai"}
"""Libraries, and the extras of this package that install them."""


def adopt(value: Any) -> Agent | None:
    """The agent that this value is, or that it becomes; None for any other value. Raises `ValueError` for one that
    cannot be an agent of a server."""
    if isinstance(value, Agent):
        return value
    if any(kind.__module__.partition(".")[0] == "pydantic_ai" for kind in type(value).__mro__):
        from outlast.kernel.agents.guests.pydantic_ai.leg import adopt_pydantic_ai

        return adopt_pydantic_ai(value)
    return None


def extra_for(error: BaseException) -> str | None:
    """The extra that installs the library whose absence this error is, or None."""
    return EXTRAS.get((error.name or "").partition(".")[0]) if isinstance(error, ModuleNotFoundError) else None
