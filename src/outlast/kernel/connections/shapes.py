"""Shapes of connections on the wire. Tokens are in none."""

from typing import Annotated, Literal

from pydantic import Field

from outlast.kernel.http.shapes import Answer, Request

Text = Annotated[str, Field(max_length=4_000)]
AccountState = Literal["connected", "lost", "missing"]


class SignInCallbackRequest(Request):
    """What the browser brought back from the other server."""

    state: Text
    code: Text | None = None
    iss: Text | None = None
    error: Text | None = None
    service: Text | None = None


class SignInAnswer(Answer):
    """A sign-in that has begun."""

    url: str
    host: str
    expires_at: str


class AccountServiceAnswer(Answer):
    """A service of the configuration, whose tokens are used in sandboxes."""

    name: str
    kind: str
    variable: str
    hosts: list[str]
    passed_at: str | None


class AccountAnswer(Answer):
    """Your account on an MCP server of a project or of the code of agents, or on a service of the configuration."""

    server_id: str
    server: str
    host: str
    project_id: str | None
    state: AccountState
    issuer: str | None
    connected_at: str | None
    last_used_at: str | None
    account: str | None
    service: AccountServiceAnswer | None
