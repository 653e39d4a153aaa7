"""MCP servers that carry calls on as tasks: with the library's own server (the extension of the revision 2026-07-28),
and, because it has no tasks of the revision 2025-11-25, one that speaks that revision by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import orjson
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, RequestParams, Result

from tests.flow.mcp.tool_server import serving

TIMES = {"createdAt": "2026-11-29T10:00:00Z", "lastUpdatedAt": "2026-11-29T10:00:00Z"}
FORM = {"type": "object", "properties": {"seats": {"type": "integer"}}, "required": ["seats"]}
ASKED = {"method": "elicitation/create", "params": {"message": "How many?", "requestedSchema": FORM}}


@dataclass
class TaskServer:
    """`begun` counts tasks; `asked_for` are the requests about them; `done` ends them with a result. With `asks`, a
    task asks a person first. A session that `sessions` does not hold is refused."""

    port: int = 0
    begun: int = 0
    asks: bool = False
    asked_for: list[str] = field(default_factory=list)
    polled: anyio.Event = field(default_factory=anyio.Event)
    done: anyio.Event = field(default_factory=anyio.Event)
    cancelled: anyio.Event = field(default_factory=anyio.Event)
    tasks: dict[str, Any] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def begin(self) -> str:
        self.begun += 1
        task_id = f"task-{self.begun}"
        self.tasks[task_id] = None
        return task_id

    def state(self, task_id: str) -> dict[str, Any]:
        """How a task stands. Raises `KeyError`."""
        answers = self.tasks[task_id]
        self.asked_for.append("get")
        self.polled.set()
        if self.asks and answers is None:
            return {"status": "input_required", "inputRequests": {"seats": ASKED}}
        if not self.done.is_set():
            return {"status": "working", "statusMessage": "Looking at trains"}
        text = "done" if answers is None else orjson.dumps(answers).decode()
        return {"status": "completed", "result": {"content": [{"type": "text", "text": text}]}}

    def cancel(self, task_id: str) -> None:
        self.asked_for.append("cancel")
        del self.tasks[task_id]
        self.cancelled.set()


class Created(Result):
    result_type: Literal["task"] = "task"
    task_id: str
    status: str = "working"
    created_at: str = TIMES["createdAt"]
    last_updated_at: str = TIMES["lastUpdatedAt"]
    ttl_ms: int | None = None
    poll_interval_ms: int = 100


class OfTask(RequestParams):
    task_id: str
    input_responses: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it


class TasksExtension(Extension):
    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, it: TaskServer) -> None:
        self._it = it

    async def intercept_tool_call(self, params: Any, ctx: Any, call_next: Any) -> Any:
        return Created(task_id=self._it.begin())

    def methods(self) -> Sequence[MethodBinding]:
        async def get(_ctx: Any, params: OfTask) -> Any:
            return {"resultType": "complete", "taskId": params.task_id, **TIMES, **self._known(params.task_id)}

        async def update(_ctx: Any, params: OfTask) -> Any:
            self._it.asked_for.append("update")
            self._it.tasks[params.task_id] = params.input_responses
            self._it.done.set()
            return {"resultType": "complete"}

        async def cancel(_ctx: Any, params: OfTask) -> Any:
            self._known(params.task_id)
            self._it.cancel(params.task_id)
            return {"resultType": "complete"}

        named = {"tasks/get": get, "tasks/update": update, "tasks/cancel": cancel}
        return [MethodBinding(name, OfTask, handler) for name, handler in named.items()]

    def _known(self, task_id: str) -> dict[str, Any]:
        try:
            return self._it.state(task_id)
        except KeyError:
            raise MCPError(INVALID_PARAMS, "Task not found") from None


@asynccontextmanager
async def task_server() -> AsyncIterator[TaskServer]:
    """A server of the revision 2026-07-28 whose tool `travel` is always a task."""
    it = TaskServer()
    mcp = MCPServer("tests", extensions=[TasksExtension(it)])

    @mcp.tool()
    def travel() -> str:
        """Plan a journey, which takes long."""
        raise AssertionError("it is a task")

    async with serving(mcp.streamable_http_app()) as it.port:
        yield it


@asynccontextmanager
async def older_task_server() -> AsyncIterator[TaskServer]:
    """A server of the revision 2025-11-25 whose tool `travel` supports tasks, which belong to a session."""
    it = TaskServer()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        session = dict(scope["headers"]).get(b"mcp-session-id", b"").decode()
        body = (await receive()).get("body") or b"{}"
        asked = orjson.loads(body)
        status, answer, more = _answer(it, scope["method"], asked, session)
        headers = [(b"content-type", b"application/json"), *more]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if answer is None else orjson.dumps(answer)})

    async with serving(app) as it.port:
        yield it


def _answer(
    it: TaskServer, method: str, asked: dict[str, Any], session: str
) -> tuple[int, dict[str, Any] | None, list[tuple[bytes, bytes]]]:
    name, params = asked.get("method"), asked.get("params", {})
    if method == "DELETE":
        it.asked_for.append("delete")
        it.sessions.discard(session)
        return 200, None, []
    if method != "POST":
        return 405, None, []
    base = {"jsonrpc": "2.0", "id": asked.get("id")}
    if name == "initialize":
        session = f"session-{len(it.asked_for)}-{it.begun}"
        it.sessions.add(session)
        can: dict[str, Any] = {"tools": {}, "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}}}
        who = {"name": "older", "version": "1"}
        result: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": who}
        return 200, {**base, "result": result}, [(b"mcp-session-id", session.encode())]
    if session not in it.sessions:
        return 404, None, []
    if asked.get("id") is None:
        return 202, None, []
    try:
        return 200, {**base, "result": _result(it, str(name), params)}, []
    except KeyError:
        return 200, {**base, "error": {"code": INVALID_PARAMS, "message": "Task not found"}}, []


def _result(it: TaskServer, name: str, params: dict[str, Any]) -> dict[str, Any]:
    if name == "tools/list":
        tool = {"name": "travel", "description": "Plan a journey.", "inputSchema": {"type": "object"}}
        return {"tools": [{**tool, "execution": {"taskSupport": "optional"}}]}
    if name == "tools/call":
        assert params["task"]["ttl"] > 3_600_000
        task = {"taskId": it.begin(), "status": "working", **TIMES, "ttl": None, "pollInterval": 100}
        return {"task": task}
    task_id = params["taskId"]
    if name == "tasks/cancel":
        it.cancel(task_id)
        return {"taskId": task_id, "status": "cancelled", **TIMES, "ttl": None}
    state = it.state(task_id)
    if name == "tasks/result":
        return dict(state["result"])
    return {"taskId": task_id, "status": state["status"], **TIMES, "ttl": None, "pollInterval": 100}
