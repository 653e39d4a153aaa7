"""Requests of the library `mcp` to a server, and its answers as ours. Import it in a thread: it takes long to load."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal

from anyio import to_thread
from mcp import ClientSession, MCPError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    URL_ELICITATION_REQUIRED,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    CancelTaskRequest,
    CancelTaskRequestParams,
    CreateTaskResult,
    ElicitationRequiredErrorData,
    ElicitRequest,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    GetTaskPayloadRequest,
    GetTaskPayloadRequestParams,
    GetTaskRequest,
    GetTaskRequestParams,
    InputRequest,
    InputRequiredResult,
    InputResponses,
    PaginatedRequestParams,
    RequestParams,
    Result,
    TaskMetadata,
    TextContent,
    Tool,
)
from mcp_types import Request as McpRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from outlast.base.mcp_errors import McpServerFailed
from outlast.kernel.mcp.definitions import HINTS, Definition
from outlast.kernel.mcp.live_calls import Ask
from outlast.kernel.mcp.outcomes import Begun, Request, TaskState, Wanted
from outlast.kernel.mcp.output_schemas import breach

MAX_PAGES: Final = 20  # of a listing
MAX_LISTED: Final = 1_000
TASK_TTL_MS: Final = 24 * 3_600_000  # for which a server is asked to keep a task
LEAST_POLL_S: Final = 0.1
DEFAULT_POLL_S: Final = 2.0
MOST_POLL_S: Final = 60.0
_RAW: Final[TypeAdapter[Any]] = TypeAdapter(dict[str, Any])
_INPUT_REQUESTS: Final[TypeAdapter[dict[str, InputRequest]]] = TypeAdapter(dict[str, InputRequest])
_UNKNOWN: Final = (INVALID_PARAMS, METHOD_NOT_FOUND, INVALID_REQUEST)


async def list_tools(client: ClientSession) -> Sequence[Definition]:
    """The tools of a server, at most `MAX_LISTED`."""
    found: list[Definition] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(params=PaginatedRequestParams(cursor=cursor))
        found.extend(_definition(tool) for tool in page.tools)
        cursor = page.next_cursor
        if cursor is None or len(found) >= MAX_LISTED:
            break
    return found[:MAX_LISTED]


def _definition(tool: Tool) -> Definition:
    hints = {} if tool.annotations is None else tool.annotations.model_dump(by_alias=True)
    known = {name: hints[name] for name in HINTS if isinstance(hints.get(name), bool)}
    title = tool.title or hints.get("title") or ""
    return Definition(tool.name, title[:200], tool.description or "", tool.input_schema, known)


class _Created(Result):
    """A task in place of a result (from revision 2026-07-28 on)."""

    result_type: Literal["task"] = "task"
    task_id: str
    poll_interval_ms: int | None = None


async def _refuse_claim(_found: _Created, _context: ClaimContext) -> CallToolResult:
    raise NotImplementedError("calls take the task themselves")


class Tasks(ClientExtension):
    """Lets servers go on with a call as a task."""

    identifier = "io.modelcontextprotocol/tasks"

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=_Created, resolve=_refuse_claim)]


def elicitation(ask: Ask) -> ElicitationFnT:
    """The library's callback for servers that ask a person over the connection (up to revision 2025-11-25)."""

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        return ElicitResult.model_validate(await ask(_request(params)))

    return answer


async def call_tool(
    client: ClientSession,
    name: str,
    arguments: Mapping[str, Any],
    answers: Mapping[str, Mapping[str, Any]] | None = None,
    state: str | None = None,
    progress: ProgressFnT | None = None,
) -> CallToolResult | Wanted | Begun:
    """What a tool returned, what its server wants to know of a person first, or the task that the call has become.
    `answers` and `state`: of the person, and of the server, when it asked before. `progress` is called on the way."""
    responses = None if answers is None else _responses(answers)
    client.validate_tool_result = partial(_check_result, client)  # type: ignore[method-assign]
    if await _makes_task(client, name):
        return await _begin_task(client, name, arguments)

    async def send() -> Any:
        return await client.call_tool(
            name,
            dict(arguments),
            input_responses=responses,
            request_state=state,
            progress_callback=progress,
            allow_input_required=True,
            allow_claimed=True,
        )

    try:
        found = await send()
    except MCPError as error:
        if error.code == URL_ELICITATION_REQUIRED:
            return _pages_in(error)
        if error.code != HEADER_MISMATCH or client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise
        await list_tools(client)  # it tells which arguments are headers, too; the server did nothing
        found = await send()
    if isinstance(found, InputRequiredResult):
        return Wanted(_requests_in(found.input_requests), "again", found.request_state)
    if isinstance(found, _Created):
        return Begun(found.task_id, client.protocol_version or "", poll_s=_seconds(found.poll_interval_ms))
    result: CallToolResult = found
    return result


class ResultBroken(Exception):
    """A result that is not as its tool says; the text says why."""


async def _check_result(client: ClientSession, name: str, result: CallToolResult) -> None:
    if result.structured_content is None:
        return
    if name not in client._tool_output_schemas:
        with suppress(MCPError, ValidationError):  # the call was made: its result counts more than this check
            await list_tools(client)
    schema = client._tool_output_schemas.get(name)
    if schema is not None and (words := await to_thread.run_sync(breach, schema, result.structured_content)):
        raise ResultBroken(words)


def _responses(answers: Mapping[str, Mapping[str, Any]]) -> InputResponses:
    return {key: ElicitResult.model_validate(answer) for key, answer in answers.items()}


def _requests_in(found: Mapping[str, InputRequest] | None) -> dict[str, Request]:
    return {key: _request_in(one) for key, one in (found or {}).items()}


def _pages_in(error: MCPError) -> Wanted:
    data = ElicitationRequiredErrorData.model_validate(error.data)
    return Wanted({str(at): _request(one) for at, one in enumerate(data.elicitations)}, "plain")


def _request_in(one: InputRequest) -> Request:
    if not isinstance(one, ElicitRequest):
        raise McpServerFailed(f"The MCP server asks for {one.method}, which it was not offered.")
    return _request(one.params)


def _request(params: ElicitRequestParams) -> Request:
    if isinstance(params, ElicitRequestURLParams):
        return Request(params.message, {}, params.url)
    return Request(params.message, params.requested_schema)


# --- calls as tasks ---------------------------------------------------------------------------------------------------


async def _makes_task(client: ClientSession, name: str) -> bool:
    """Whether the tool is called as a task, as in the revision 2025-11-25. Later, the server decides."""
    can = client.server_capabilities
    if can is None or can.tasks is None or can.tasks.requests is None or can.tasks.requests.tools is None:
        return False
    if can.tasks.requests.tools.call is None or client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return False
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(params=PaginatedRequestParams(cursor=cursor))
        for tool in page.tools:
            if tool.name == name:
                return tool.execution is not None and tool.execution.task_support in ("optional", "required")
        if (cursor := page.next_cursor) is None:
            break
    return False


async def _begin_task(client: ClientSession, name: str, arguments: Mapping[str, Any]) -> Begun:
    wanted = CallToolRequestParams(name=name, arguments=dict(arguments), task=TaskMetadata(ttl=TASK_TTL_MS))
    data = CallToolRequest(params=wanted).model_dump(by_alias=True, mode="json", exclude_none=True)
    options: Any = {}
    client._stamp(data, options)  # `send_request` accepts no task as the answer to a call
    raw = await client._dispatcher.send_raw_request(data["method"], data["params"], options)
    task = CreateTaskResult.model_validate(raw, by_name=False).task
    return Begun(task.task_id, client.protocol_version or "", poll_s=_seconds(task.poll_interval))


class _GetTask(GetTaskRequest):
    name_param = "taskId"


class _CancelTask(CancelTaskRequest):
    name_param = "taskId"


class _UpdateParams(RequestParams):
    task_id: str
    input_responses: InputResponses


class _UpdateTask(McpRequest[_UpdateParams, Literal["tasks/update"]]):
    method: Literal["tasks/update"] = "tasks/update"
    params: _UpdateParams
    name_param = "taskId"


async def task_state(client: ClientSession, task_id: str) -> TaskState:
    """How a task stands, with its result if it has ended."""
    try:
        found = await client.send_request(_GetTask(params=GetTaskRequestParams(task_id=task_id)), _RAW)
    except MCPError as error:
        if error.code in _UNKNOWN or "session" in error.message.lower():
            return TaskState("forgotten", error.message)
        raise
    status, message = str(found.get("status")), str(found.get("statusMessage") or "")
    poll_s = _seconds(found.get("pollIntervalMs", found.get("pollInterval")))
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        ended = status in ("completed", "failed")
        return TaskState(status, message, poll_s, await task_result(client, task_id) if ended else None)
    if status == "completed":
        return TaskState(status, message, poll_s, CallToolResult.model_validate(found.get("result"), by_name=False))
    if status == "failed":
        error_data = found.get("error")
        reason = error_data.get("message") if isinstance(error_data, dict) else ""
        return TaskState(status, str(reason or message), poll_s)
    requests = _INPUT_REQUESTS.validate_python(found.get("inputRequests") or {}, by_name=False)
    return TaskState(status, message, poll_s, requests=_requests_in(requests))


async def task_result(client: ClientSession, task_id: str) -> CallToolResult:
    """The result of a task (revision 2025-11-25), once it has one. Its server may ask a person meanwhile."""
    wanted = GetTaskPayloadRequest(params=GetTaskPayloadRequestParams(task_id=task_id))
    try:
        return await client.send_request(wanted, CallToolResult)
    except MCPError as error:
        if error.code in _UNKNOWN or error.code == CONNECTION_CLOSED:
            raise
        return CallToolResult(content=[TextContent(text=error.message)], is_error=True)


async def answer_task(client: ClientSession, task_id: str, answers: Mapping[str, Mapping[str, Any]]) -> None:
    """Give a task what it asked of a person (from revision 2026-07-28 on). Repeating is harmless."""
    await client.send_request(
        _UpdateTask(params=_UpdateParams(task_id=task_id, input_responses=_responses(answers))), _RAW
    )


async def cancel_task(client: ClientSession, task_id: str) -> None:
    """Ask the server to end a task. One that has ended, or is not known, is not an error."""
    with suppress(MCPError):
        await client.send_request(_CancelTask(params=CancelTaskRequestParams(task_id=task_id)), _RAW)


def _seconds(milliseconds: Any) -> float:
    """The time between two looks at a task."""
    wanted = milliseconds / 1_000 if isinstance(milliseconds, int | float) else DEFAULT_POLL_S
    return min(max(wanted, LEAST_POLL_S), MOST_POLL_S)
