"""Outlast with a `terminal` that does nothing, so that W6 measures the wait for a user and not a sandbox.

Everything else is the unchanged server. Run as a program with the arguments of `outlast`.
"""

from runpy import run_module
from typing import Any

from outlast.kernel.agents.tool import Tool, tool
from outlast.kernel.agents.tools import standard_tools


def _terminal_tool(*_parts: Any) -> Tool:
    @tool
    async def terminal(command: str, timeout_s: float | None = None) -> str:
        """Does nothing."""
        return "done"

    return terminal


if __name__ == "__main__":
    setattr(standard_tools, "terminal_tool", _terminal_tool)  # noqa: B010 (imported there by name, which types forbid)
    run_module("outlast", run_name="__main__")
