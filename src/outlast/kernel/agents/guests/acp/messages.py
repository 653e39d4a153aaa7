"""The messages of the Agent Client Protocol, version 1, as far as a client without file system and terminals needs
them. Whatever an agent writes, its texts can be stored and its lists end. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import orjson

from outlast.kernel.agents.guests.acp.diffs import Diffs
from outlast.kernel.models.protocol import Usage
from outlast.kernel.runs.guest_journal import MAX_RESULT_CHARS
from outlast.kernel.runs.turns import MAX_NAME_CHARS, encodable

PROTOCOL: Final = 1
INITIALIZE, SESSION, PROMPT, SIGN_IN = 1, 2, 3, 4  # ids of our requests: each process gets one of each
NO_METHOD: Final = -32601
DONE: Final = ("completed", "failed")
MAX_TITLE_CHARS: Final = 500
MAX_ID_CHARS: Final = 200
MAX_SESSION_CHARS: Final = 1_000
MAX_ERROR_CHARS: Final = 1_000
MAX_PLAN_CHARS: Final = 200  # of an entry
MOST_ENTRIES: Final = 200  # of a plan, and of what a call gave
MOST_OPTIONS: Final = 32
MOST_TOKENS: Final = 10**9
_TEXTS: Final = {"title": MAX_TITLE_CHARS, "kind": MAX_NAME_CHARS, "status": 20}
_VALUES: Final = ("rawInput", "rawOutput", "content", "locations")
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


class Pause(NamedTuple):
    """What was said so far has to be recorded before more is read."""


Event = Pause | Text | Call | Plan | Asked | Unknown | Response | Exited


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
        return _request(message["id"], _text(message["method"], MAX_ID_CHARS), params)
    update = params.get("update")
    return _update(update) if message["method"] == "session/update" and isinstance(update, dict) else None


def _text(value: Any, most: int | None = None) -> str:
    """The value, if it is a text, as it can be stored and shown."""
    return encodable(value[:most]) if isinstance(value, str) else ""


def _dicts(value: Any, most: int = MOST_ENTRIES) -> list[Fields]:
    """The first dicts of a value, if it is a list."""
    return [one for one in islice(value, most) if isinstance(one, dict)] if isinstance(value, list) else []


def _response(message: Fields) -> Response:
    error, result = message.get("error"), message.get("result")
    if not isinstance(error, dict):
        return Response(message["id"], result if isinstance(result, dict) else {})
    data = error.get("data")
    said = data.get("message", data.get("details")) if isinstance(data, dict) else data
    texts = _text(error.get("message"), MAX_ERROR_CHARS) or "error", _text(said, MAX_ERROR_CHARS)
    return Response(message["id"], {}, ": ".join(filter(None, texts))[:MAX_ERROR_CHARS])


def _request(request_id: Any, method: str, params: Fields) -> Asked | Unknown | None:
    is_id = type(request_id) is int or (isinstance(request_id, str) and len(request_id) <= MAX_ID_CHARS)
    if not is_id:
        return None
    call = params.get("toolCall")
    if method != "session/request_permission" or not isinstance(call, dict):
        return Unknown(request_id, method)
    options = [
        {name: _text(one.get(name), MAX_ID_CHARS) for name in ("kind", "optionId")}
        for one in _dicts(params.get("options"), MOST_OPTIONS)
    ]
    return Asked(request_id, _text(call.get("toolCallId"), MAX_ID_CHARS), _known(call), options)


def _update(update: Fields) -> Event | None:
    kind, content = update.get("sessionUpdate"), update.get("content")
    if kind in ("agent_message_chunk", "agent_thought_chunk"):
        text = content_text([content])
        return Text(text, kind == "agent_thought_chunk") if text else None
    if kind in ("tool_call", "tool_call_update"):
        return Call(_text(update.get("toolCallId"), MAX_ID_CHARS), _known(update), kind == "tool_call")
    if kind == "plan":
        entries = _dicts(update.get("entries"))
        return Plan({_text(one.get("content"), MAX_PLAN_CHARS): _text(one.get("status"), 20) for one in entries})
    return None


def _known(call: Fields) -> Fields:
    """What is used of a call. Values that nest too deeply to be written again are left out."""
    texts = {name: _text(call[name], most) for name, most in _TEXTS.items() if call.get(name) is not None}
    values = {name: call[name] for name in _VALUES if call.get(name) is not None and _is_writable(call[name])}
    return texts | values


def _is_writable(value: Any) -> bool:
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        return False
    return True


def content_text(blocks: Iterable[Any]) -> str:
    """The text of content blocks; what is no text is named."""
    texts = []
    for block in blocks:
        if isinstance(block, dict):
            kind = _text(block.get("type"), MAX_NAME_CHARS)
            resource = block.get("resource")
            if kind == "text":
                texts.append(_text(block.get("text")))
            elif kind == "resource" and isinstance(resource, dict) and "text" in resource:
                texts.append(_text(resource["text"]))
            elif kind == "resource_link":
                texts.append(f"[{_text(block.get('name')) or 'link'}]({_text(block.get('uri'))})")
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
    said = {"title": call.get("title", "")}
    paths = [_text(one.get("path")) for one in _dicts(call.get("locations")) if "path" in one]
    return said | ({"files": paths} if paths else {})


def kept_of(call: Fields) -> dict[str, str]:
    """What has to be kept of an update until the call's result: its title, and what it gave, as people read it."""
    kept = {"title": str(call["title"])} if "title" in call else {}
    if "content" in call:
        kept["text"] = _content(_dicts(call["content"]))[:MAX_RESULT_CHARS]
    if "rawOutput" in call:
        raw = call["rawOutput"]
        said = raw.get("output", raw.get("error")) if isinstance(raw, dict) else raw
        text = said if isinstance(said, str) else json.dumps(raw, ensure_ascii=False)
        kept["output"] = _text(text, MAX_RESULT_CHARS)
    return kept


def result_text(kept: Mapping[str, str]) -> str:
    """What a call gave, as people read it: its texts and diffs, else what the tool said."""
    return kept.get("text") or kept.get("output", "")


def _content(content: Sequence[Fields]) -> str:
    texts, diffs = [], Diffs()
    for one in content:
        if one.get("type") == "content":
            texts.append(content_text([one.get("content")]))
        elif one.get("type") == "diff":
            path, old, new = (_text(one.get(name)) for name in ("path", "oldText", "newText"))
            texts.append(diffs.text(path, old, new))
    return "\n".join(text for text in texts if text)


def session_of(result: Fields) -> str:
    """The id of a new session; empty if there is none that can be kept."""
    session = _text(result.get("sessionId"))
    return session if len(session) <= MAX_SESSION_CHARS else ""


def stop_of(result: Fields) -> str:
    """Why the agent's answer ended."""
    return _text(result.get("stopReason"), MAX_ID_CHARS) or "end_turn"


def usage_of(result: Fields) -> Usage:
    """The tokens that the agent says its answer took, at most 10⁹ of a kind; zeros if it says none."""
    usage = result.get("usage")
    counts: dict[str, Any] = usage if isinstance(usage, dict) else {}

    def count(name: str) -> int:
        value = counts.get(name)
        return min(value, MOST_TOKENS) if type(value) is int and value > 0 else 0

    cached = count("cachedReadTokens")
    return Usage(
        min(count("inputTokens") + cached + count("cachedWriteTokens"), MOST_TOKENS),
        min(count("outputTokens") + count("thoughtTokens"), MOST_TOKENS),
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
