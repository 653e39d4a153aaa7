"""Outlast with a `terminal` that does nothing, so that W6 measures the wait for a person and not a sandbox.

Everything else is the server as it is. Run as a program with the arguments of `outlast`.
"""

from collections.abc import Mapping
from runpy import run_module
from typing import Any

from outlast.kernel.agents.tools.terminal import Terminal
from outlast.kernel.runs.profile import ToolContext, ToolResult


async def _run(self: Terminal, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult("done")


async def _forget(self: Terminal, context: ToolContext) -> None:
    return None


if __name__ == "__main__":
    setattr(Terminal, "run", _run)  # noqa: B010 (put in the place of a method, which types forbid)
    setattr(Terminal, "forget", _forget)  # noqa: B010
    run_module("outlast", run_name="__main__")
