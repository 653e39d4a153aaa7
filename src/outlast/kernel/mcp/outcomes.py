"""What a server answers to a call before its result. Pure; travels as JSON in the journal of the call."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from outlast.base.mcp_errors import McpServerFailed
from outlast.kernel.agents.context import Kept
from outlast.kernel.runs.forms import Form, FormUnusable, items_of

MOST_REQUESTS: Final = 5  # at once
MAX_STATE_CHARS: Final = 250_000
MAX_SCHEMA_CHARS: Final = 50_000


class Request(NamedTuple):
    """What a server asks a person: the fields of a JSON `schema`, or with `url`, that they open a page."""

    message: str
    schema: Mapping[str, Any]
    url: str = ""


class Wanted(NamedTuple):
    """The server needs a person's answers to these requests. `how` they are given: with the same call again, and the
    server's `state` (`again`), on the open connection (`live`), in the call's task (`task`), or not at all: the call is
    only made again (`plain`)."""

    requests: Mapping[str, Request]
    how: str
    state: str | None = None


class Begun(NamedTuple):
    """The call goes on as a task of its server. `version`: of the protocol; `session`: the id by which the server knows
    us, empty if it needs none; `poll_s`: seconds between two looks."""

    task_id: str
    version: str
    session: str = ""
    poll_s: float = 0.0


class TaskState(NamedTuple):
    """How a task stands: `working`, `input_required` with its `requests`, `completed`, `failed`, `cancelled`, or
    `forgotten`. `message`: of the server, for people. `result`: the library's, of one that has ended."""

    status: str
    message: str = ""
    poll_s: float = 0.0
    result: Any = None
    requests: Mapping[str, Request] = {}


def kept(wanted: Wanted, server: str) -> Kept:
    """What the journal keeps of it. Raises `McpServerFailed` for what cannot be asked."""
    if len(wanted.requests) > MOST_REQUESTS:
        raise _unusable(server, f"asks more than {MOST_REQUESTS} questions at once")
    if wanted.state is not None and len(wanted.state) > MAX_STATE_CHARS:
        raise _unusable(server, f"wants more than {MAX_STATE_CHARS:,} characters to be kept with a question")
    for one in wanted.requests.values():
        if len(repr(one.schema)) > MAX_SCHEMA_CHARS:
            raise _unusable(server, f"asks with a form of more than {MAX_SCHEMA_CHARS:,} characters")
        try:
            items_of(form_of(one, server))
        except FormUnusable as error:
            raise _unusable(server, f"asks what cannot be shown: {error}") from None
    requests = {key: one._asdict() for key, one in wanted.requests.items()}
    return Kept({"wanted": {**wanted._asdict(), "requests": requests}})


def wanted_in(value: Mapping[str, Any]) -> Wanted:
    """What `kept` kept."""
    wanted = value["wanted"]
    return Wanted(**{**wanted, "requests": {key: Request(**one) for key, one in wanted["requests"].items()}})


def form_of(request: Request, server: str) -> Form:
    """The request as a form that a person is asked to fill in."""
    return Form(server, request.message, request.schema, request.url)


def _unusable(server: str, reason: str) -> McpServerFailed:
    return McpServerFailed(f"The MCP server {server} {reason}.", hint="Ask the server's maker.", server=server)
