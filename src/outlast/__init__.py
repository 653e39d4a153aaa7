"""Outlast: runs that outlast the tab, the connection, the process and the sandbox.

The words that agents are written with can be imported from here; they are loaded when they are first asked for:

    from outlast import Agent, Context, Image, flow, tool
"""

from importlib import import_module
from typing import Any, Final

__all__ = [
    "Agent",
    "Context",
    "Image",
    "Source",
    "StageContext",
    "StageResult",
    "ToolResult",
    "browser",
    "flow",
    "tool",
    "web_fetch",
    "web_search",
]

_MODULES: Final = {
    "Agent": "agent",
    "Context": "context",
    "Image": "images",
    "Source": "sources",
    "StageContext": "context",
    "StageResult": "hooks",
    "ToolResult": "tool",
    "browser": "tools.browser",
    "flow": "flow",
    "tool": "tool",
    "web_fetch": "tools.web",
    "web_search": "tools.web",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'outlast' has no attribute {name!r}")
    return getattr(import_module(f"outlast.kernel.agents.{_MODULES[name]}"), name)
