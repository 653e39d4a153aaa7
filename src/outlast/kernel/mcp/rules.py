"""Names, addresses and headers of MCP servers. Pure."""

import re
from typing import Final

from outlast.base.errors import MalformedInput
from outlast.kernel.agents.mcp import SERVER_NAME
from outlast.kernel.http.private_addresses import Allowed
from outlast.kernel.http.web_addresses import Address, checked_address
from outlast.kernel.mcp.rows import McpServerRow

DEFAULT_HEADER: Final = "Authorization"
_HEADER: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}\Z")
_RESERVED: Final = frozenset(
    [
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "transfer-encoding",
        "user-agent",
    ]
)


def checked_name(name: str) -> str:
    """Raises `MalformedInput`."""
    if not SERVER_NAME.match(name):
        raise MalformedInput(
            "The name of a server begins with a letter and has at most 24 of a-z, 0-9 and -.",
            hint="For example linear.",
            field="name",
        )
    return name


def checked_header(header: str) -> str:
    """Raises `MalformedInput`."""
    if not _HEADER.match(header) or header.lower() in _RESERVED or header.lower().startswith("mcp-"):
        raise MalformedInput(f"{header[:80]!r} cannot be the header of a secret.", field="header")
    return header


def checked_url(url: str, allowed: Allowed) -> Address:
    """Host and port of an address that may be connected to. A name is checked again when it is resolved. Raises
    `MalformedInput`."""
    return checked_address(url, allowed, thing="an MCP server", example="https://example.com/mcp")


def header_value(header: str, value: str) -> str:
    """The text of a header with a secret. `Authorization` gets the scheme `Bearer` if the secret has none."""
    return f"Bearer {value}" if header.lower() == "authorization" and " " not in value else value


def secrets_of(server: McpServerRow, project_id: str | None) -> str:
    """The project whose secrets a server may get; empty for none: a person's own server gets none of a project's."""
    return server.project_id or ("" if server.owner_id is not None else project_id or "")
