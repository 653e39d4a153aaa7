"""Shapes of MCP servers on the wire."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from outlast.kernel.http.shapes import Answer, Request

ToolState = Literal["allowed", "new", "changed", "gone"]
ServerOrigin = Literal["project", "server", "code", "user"]
ToolName = Annotated[str, Field(max_length=128)]


class McpServerRequest(Request):
    name: Annotated[str, Field(max_length=80)]
    url: Annotated[str, Field(max_length=2_000)] | None = None
    package: Annotated[str, Field(max_length=1_000)] | None = None
    hosts: Annotated[Sequence[Annotated[str, Field(max_length=300)]], Field(max_length=50)] = ()
    secrets: Annotated[Sequence[Annotated[str, Field(max_length=80)]], Field(max_length=20)] = ()
    header: Annotated[str, Field(max_length=80)] | None = None
    secret: Annotated[str, Field(max_length=80)] | None = None
    login: Literal["user"] | None = None
    own: bool = False


class AllowToolsRequest(Request):
    tools: Annotated[Mapping[ToolName, Annotated[str, Field(max_length=64)]], Field(min_length=1, max_length=500)]


class ForbidToolsRequest(Request):
    tools: Annotated[Sequence[ToolName], Field(min_length=1, max_length=500)]


class McpServerAnswer(Answer):
    """An MCP server of a project, of every project, or of agents' code. The value of its secret is in no answer."""

    id: str
    project_id: str | None
    origin: ServerOrigin
    agents: list[str]
    name: str
    url: str
    package: str | None
    version: str | None
    hosts: list[str]
    secrets: list[str]
    header: str | None
    secret: str | None
    login: Literal["user"] | None
    created_by: str | None
    created_at: str
    listed_at: str | None
    problem: str | None
    tools: int
    allowed: int
    waiting: int


class McpToolAnswer(Answer):
    """A tool of an MCP server, as the server last described it."""

    name: str
    shown: str
    call_name: str
    title: str
    description: str
    parameters: Mapping[str, Any]
    annotations: Mapping[str, bool]
    state: ToolState
    digest: str
    asks: bool
    allowed_description: str | None
    allowed_by: str | None
    allowed_at: str | None


class LeftOutAnswer(Answer):
    name: str
    reason: str


class McpToolsAnswer(Answer):
    """A server with its tools, and the tools that were left out of the listing."""

    server: McpServerAnswer
    tools: list[McpToolAnswer]
    left_out: list[LeftOutAnswer]
