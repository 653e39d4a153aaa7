"""Outlast: runs that outlast the tab, the connection, the process and the sandbox.

The words that agents are written with can be imported from here; they are loaded when they are first asked for:

    from outlast import Agent, Context, Image, acp_agent, flow, mcp, tool

`OutlastDurability` and `OutlastWorkspace`, for agents of pydantic-ai, need the extra `pydantic-ai`.
"""

from importlib import import_module
from typing import Any, Final

__all__ = [
    "Agent",
    "Context",
    "Image",
    "OutlastDurability",
    "OutlastWorkspace",
    "Source",
    "StageContext",
    "StageResult",
    "ToolResult",
    "acp_agent",
    "browser",
    "flow",
    "mcp",
    "tool",
    "web_fetch",
    "web_search",
]

_MODULES: Final = {
    "Agent": "agent",
    "Context": "context",
    "Image": "images",
    "OutlastDurability": "guests.pydantic_ai.durability",
    "OutlastWorkspace": "guests.pydantic_ai.workspace",
    "Source": "sources",
    "StageContext": "context",
    "StageResult": "hooks",
    "ToolResult": "tool",
    "acp_agent": "guests.acp.agent",
    "browser": "tools.browser",
    "flow": "flow",
    "mcp": "mcp",
    "tool": "tool",
    "web_fetch": "tools.web",
    "web_search": "tools.web",
}

_MODULE: Final = "mcp"  # a word that is a module itself


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'outlast' has no attribute {name!r}")
    module = import_module(f"outlast.kernel.agents.{_MODULES[name]}")
    return module if name == _MODULE else getattr(module, name)
