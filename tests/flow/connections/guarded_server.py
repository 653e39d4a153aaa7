"""The MCP server of the tests behind the library's own check of tokens."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings

from tests.flow.connections.auth_server import AuthServer
from tests.flow.mcp.tool_server import READ_ONLY, ToolServer, tool_server


class Verifier:
    """Asks the authorization server of the tests about tokens."""

    def __init__(self, auth: AuthServer) -> None:
        self._auth = auth

    async def verify_token(self, token: str) -> AccessToken | None:
        found = self._auth.subject_of(token)
        if found is None:
            return None
        known: dict[str, Any] = {"client_id": found.client_id, "resource": found.resource, "subject": found.user}
        return AccessToken(token=token, scopes=[], **known)


@asynccontextmanager
async def guarded_server(
    auth: AuthServer, resource: str = "", scopes: Sequence[str] = (), verifier: TokenVerifier | None = None
) -> AsyncIterator[ToolServer]:
    """The server, at work: it takes tokens of `auth` for itself. `resource`: what its metadata says, if that is
    something else; `scopes`: that tokens need; `verifier`: of others."""
    port = _free_port()
    settings = AuthSettings.model_validate(
        {
            "issuer_url": auth.issuer,
            "resource_server_url": (resource or "http://127.0.0.1:{port}/mcp").format(port=port),
            "required_scopes": list(scopes),
            "validate_token_resource": verifier is None,
        }
    )
    async with tool_server(port, auth=settings, token_verifier=verifier or Verifier(auth)) as it:

        @it.mcp.tool(annotations=READ_ONLY)
        def whoami() -> str:
            """Say whose account is used."""
            token = get_access_token()
            assert token is not None
            it.calls.append(("whoami", {"user": token.subject}))
            return f"You are {token.subject}."

        yield it


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
