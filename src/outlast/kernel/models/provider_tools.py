"""Texts for tools that a provider runs itself (web search, code interpreter, MCP). Pure."""

from collections.abc import Mapping
from typing import Any, Final

from outlast.kernel.models.protocol import ProviderToolUsed
from outlast.kernel.models.turn_calls import parse_arguments

WORDS_CHARS: Final = 200
_NAMED: Final[Mapping[str, str]] = {
    "web_search": "searched the web",
    "search": "searched the web",
    "x_search": "searched posts on X",
    "file_search": "searched its files",
    "web_fetch": "read a web page",
    "url_context": "read a web page",
    "visit": "read a web page",
    "code_execution": "ran code",
    "code_interpreter": "ran code",
    "python": "ran code",
    "image_generation": "made an image",
    "memory": "used its memory",
    "tool_search": "searched its tools",
}
_SOUGHT: Final = ("query", "search_query", "queries", "url", "urls")


def provider_tool(name: str, arguments: str | Mapping[str, Any] | None = None) -> ProviderToolUsed:
    """The delta for a tool of this name. `arguments` may be anything; only a query or an address of them is shown, at
    most 200 characters."""
    given = parse_arguments(arguments) if isinstance(arguments, str) else arguments
    said = _said(given or {})
    tool = name.partition(":")[0]
    if tool in ("mcp_server", "mcp", "mcp_call"):
        called = str((given or {}).get("tool_name") or (given or {}).get("name") or "")[:80]
        server = name.partition(":")[2]
        words = f"called {called or 'a tool'} on the MCP server{f' {server}' if server else ''}"
        return ProviderToolUsed(name, f"The provider {words}.")
    words = _NAMED.get(tool.removesuffix("_call"), f"used its own tool {tool[:80]}")
    return ProviderToolUsed(name, f"The provider {words}: {said}" if said else f"The provider {words}.")


def _said(given: Mapping[str, Any]) -> str:
    for key in _SOUGHT:
        value = given.get(key)
        words = ", ".join(map(str, value[:5])) if isinstance(value, list) else value
        if isinstance(words, str) and words.strip():
            line = " ".join(words[: 4 * WORDS_CHARS].split())
            return line if len(line) <= WORDS_CHARS else f"{line[: WORDS_CHARS - 1]}…"
    return ""
