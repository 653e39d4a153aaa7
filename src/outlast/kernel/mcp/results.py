"""What a tool of an MCP server returned, as the result of a call: text for the model, and images."""

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from outlast.kernel.agents.images import Image
from outlast.kernel.agents.tool import ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult

MAX_CHARS: Final = 200_000  # the run cuts it further; this bounds what is joined


def result_of(found: "CallToolResult") -> ToolResult:
    """The result, also if the server says that the call failed: the model reads why."""
    texts: list[str] = []
    images: list[Image] = []
    for one in found.content:
        if one.type == "image":
            texts.append(_add_image(images, one.data))
        else:
            texts.append(_text_of(one))
    content = "\n".join(text for text in texts if text)
    if not content and found.structured_content is not None:  # servers repeat it as a text for older clients
        content = orjson.dumps(found.structured_content).decode()
    return ToolResult(content[:MAX_CHARS] or "(no content)", is_error=bool(found.is_error), images=tuple(images))


def _add_image(images: list[Image], data: str) -> str:
    try:
        images.append(Image(base64.b64decode(data, validate=True)))
    except (binascii.Error, ValueError):
        return "[image: left out, because it is not readable]"
    return "[image]"


def _text_of(one: Any) -> str:
    if one.type == "text":
        return str(one.text)
    if one.type == "resource_link":
        return " ".join(_present([f"[resource: {one.title or one.name}]", str(one.uri), one.description]))
    if one.type == "resource":
        text = getattr(one.resource, "text", None)
        return f"[resource: {one.resource.uri}]\n{text}" if text else f"[resource: {one.resource.uri}, not text]"
    return f"[{one.type}: not shown]"


def _present(texts: Sequence[str | None]) -> list[str]:
    return [text for text in texts if text]
