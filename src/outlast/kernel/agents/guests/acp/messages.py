"""The messages of the Agent Client Protocol, version 1, as far as a client without file system and terminals needs
them. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import unified_diff
from typing import Any, Final, NamedTuple

import orjson

from outlast.kernel.models.protocol import Usage

PROTOCOL: Final = 1
INITIALIZE, SESSION, PROMPT, SIGN_IN = 1, 2, 3, 4  # ids of our requests: each process gets one of each
NO_METHOD: Final = -32601
DONE: Final = ("completed", "failed")
MAX_DIFF_LINES: Final = 2_000
Fields = Mapping[str, Any]


class Text(NamedTuple):
    """A piece of the agent's answer, or of its reasoning."""

    text: str
    is_thought: bool = False


class Call(NamedTuple):
    """What the agent says about a call of one of its tools; `fields` has only what is new. `begins`: it is a new call,
    perhaps with the id of an earlier one, as models that run locally number theirs in each turn."""

    call_id: str
    fields: Fields
    begins: bool = False


class Plan(NamedTuple):
    """The whole plan: contents of the entries, and their status (pending, in_progress, completed)."""

    entries: Mapping[str, str]


class Asked(NamedTuple):
    """The agent asks for permission for a call. It waits for the answer to this request."""

    request_id: Any
    call_id: str
    fields: Fields
    options: Sequence[Fields]


class Unknown(NamedTuple):
    """A request that this client has not offered to answer."""

    request_id: Any
    method: str


class Response(NamedTuple):
    """The response to a request of ours; `error` is its message, empty without an error."""

    request_id: Any
    result: Fields
    error: str = ""


class Exited(NamedTuple):
    """The agent's process has ended."""

    code: int
    stderr: str


Event = Text | Call | Plan | Asked | Unknown | Response | Exited


def parse(line: str) -> Event | None:
    """The event that a line of the agent is; None if it is nothing that matters here."""
    try:
        message = orjson.loads(line)
    except ValueError:  # programs print other things, too
        return None
    if not isinstance(message, dict):
        return None
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    if "method" not in message:
        return _response(message) if "id" in message else None
    if "id" in message:
        return _request(message["id"], str(message["method"]), params)
    update = params.get("update")
    return _update(update) if message["method"] == "session/update" and isinstance(update, dict) else None


def _response(message: Fields) -> Response:
    error, result = message.get("error"), message.get("result")
    if not isinstance(error, dict):
        return Response(message["id"], result if isinstance(result, dict) else {})
    data = error.get("data")
    said = data.get("message", data.get("details", "")) if isinstance(data, dict) else data or ""
    text = ": ".join(one for one in (str(error.get("message") or "error"), str(said or "")) if one)
    return Response(message["id"], {}, text)


def _request(request_id: Any, method: str, params: Fields) -> Asked | Unknown:
    call = params.get("toolCall")
    if method != "session/request_permission" or not isinstance(call, dict):
        return Unknown(request_id, method)
    options = [one for one in params.get("options") or () if isinstance(one, dict)]
    return Asked(request_id, str(call.get("toolCallId", "")), _known(call), options)


def _update(update: Fields) -> Event | None:
    kind, content = update.get("sessionUpdate"), update.get("content")
    if kind in ("agent_message_chunk", "agent_thought_chunk"):
        text = content_text([content])
        return Text(text, kind == "agent_thought_chunk") if text else None
    if kind in ("tool_call", "tool_call_update"):
        return Call(str(update.get("toolCallId", "")), _known(update), kind == "tool_call")
    if kind == "plan":
        entries = [one for one in update.get("entries") or () if isinstance(one, dict)]
        return Plan({str(one.get("content", "")): str(one.get("status", "")) for one in entries})
    return None


def _known(call: Fields) -> Fields:
    return {name: value for name, value in call.items() if value is not None}


def content_text(blocks: Iterable[Any]) -> str:
    """The text of content blocks; what is no text is named."""
    texts = []
    for block in blocks:
        if isinstance(block, dict):
            kind = block.get("type")
            resource = block.get("resource")
            if kind == "text":
                texts.append(str(block.get("text", "")))
            elif kind == "resource" and isinstance(resource, dict) and "text" in resource:
                texts.append(str(resource["text"]))
            elif kind == "resource_link":
                texts.append(f"[{block.get('name', 'link')}]({block.get('uri', '')})")
            else:
                texts.append(f"[{kind}]")
    return "\n".join(texts)


def tool_of(call: Fields) -> str:
    """The name that policies and people know the call's tool by: its kind."""
    return str(call.get("kind") or "other")


def arguments_of(call: Fields) -> dict[str, Any]:
    """The call's arguments; if the agent does not say any, its title and files."""
    given = call.get("rawInput")
    if isinstance(given, dict) and given:
        return given
    said = {"title": str(call.get("title", ""))}
    paths = [one["path"] for one in call.get("locations") or () if isinstance(one, dict) and "path" in one]
    return said | ({"files": paths} if paths else {})


def result_text(call: Fields) -> str:
    """What a call gave, as people read it: its texts and diffs."""
    texts = []
    for one in call.get("content") or ():
        if isinstance(one, dict) and one.get("type") == "content":
            texts.append(content_text([one.get("content")]))
        elif isinstance(one, dict) and one.get("type") == "diff":
            texts.append(_diff(one))
    whole = "\n".join(text for text in texts if text)
    raw = call.get("rawOutput")
    if whole or raw is None:
        return whole
    said = raw.get("output", raw.get("error")) if isinstance(raw, dict) else raw
    return said if isinstance(said, str) else json.dumps(raw, ensure_ascii=False)


def _diff(content: Fields) -> str:
    before, after = str(content.get("oldText") or "").splitlines(), str(content.get("newText") or "").splitlines()
    path = str(content.get("path", ""))
    if len(before) + len(after) > MAX_DIFF_LINES:
        return f"{path}: {len(before)} lines before, {len(after)} after"
    return "\n".join(unified_diff(before, after, f"a{path}", f"b{path}", lineterm=""))


def usage_of(result: Fields) -> Usage:
    """The tokens that the agent says its answer took; zeros if it says none."""
    usage = result.get("usage")
    counts: dict[str, Any] = usage if isinstance(usage, dict) else {}

    def count(name: str) -> int:
        value = counts.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    cached = count("cachedReadTokens")
    return Usage(
        count("inputTokens") + cached + count("cachedWriteTokens"),
        count("outputTokens") + count("thoughtTokens"),
        cached,
        count("thoughtTokens"),
    )


def answer(asked_options: Sequence[Fields], *, allow: bool) -> Fields:
    """The outcome of a request for permission: for this call only, if the agent offers that."""
    kinds = ("allow_once", "allow_always") if allow else ("reject_once", "reject_always")
    for kind in kinds:
        for option in asked_options:
            if option.get("kind") == kind:
                return {"outcome": {"outcome": "selected", "optionId": option.get("optionId")}}
    return {"outcome": {"outcome": "cancelled"}}


def request(request_id: int, method: str, params: Fields) -> str:
    """A request of ours, as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def cancel(session_id: str) -> str:
    """The notification that stops a session's work."""
    return json.dumps({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}})


def respond(request_id: Any, result: Fields) -> str:
    """The response to a request of the agent."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result})


def refuse(request_id: Any, method: str) -> str:
    """The response to a request of the agent that this client does not know."""
    error = {"code": NO_METHOD, "message": f"Method not found: {method}"}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error})
