"""Parses the streamed answer of `POST /chat/completions` into deltas; pure, so any split of the bytes can be tested.

Speed matters here (thousands of deltas a second pass through one core): bytes are split at line ends and each `data:`
line is parsed on its own, since no server spreads one JSON value over several of them.
"""

import secrets
from typing import Any, Final

import orjson

from outlast.base.errors import ModelCut, OutlastError
from outlast.kernel.models.failures import Peer, complaint_of, cut, policy_refused, stream_refusal, unreadable
from outlast.kernel.models.protocol import Delta, Finish, ReasoningDelta, TextDelta, ToolCallStart, Usage
from outlast.kernel.models.provider_tools import provider_tool
from outlast.kernel.models.providers.openai_body import OPAQUE_VERSION, THINKING_PARTS
from outlast.kernel.models.turn_calls import TurnCalls

_CACHED: Final = ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
_THOUGHTS: Final = ("reasoning_content", "reasoning")  # the fields of plain reasoning
MAX_LINE_BYTES: Final = 8 * 1024 * 1024
_FINISHES: Final[dict[str, Finish]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
}


class ChatStream:
    """One turn being read. `feed` bytes as they arrive; `finished` is true if nothing more is needed; `end` closes
    it."""

    def __init__(self, peer: Peer) -> None:
        self.finished = False
        self._peer = peer
        self._rest = bytearray()  # of a line that has not ended
        self._failure: OutlastError | None = None
        self._calls = TurnCalls()
        self._slots: dict[int, tuple[int, str]] = {}  # the provider's call index → (ours, its id)
        self._finish: Finish | None = None
        self._refused = False
        self._said = False  # text or a call has come
        self.usage = Usage()
        self._details: list[dict[str, Any]] = []
        self._call_extras: dict[str, Any] = {}
        self._reasoning_field = ""
        self._theirs: set[int] = set()  # slots of calls that the provider runs itself
        self._cites = False

    @property
    def answered(self) -> bool:
        """True if the model has sent its stop reason; only the usage may follow."""
        return self._finish is not None or self._failure is not None

    def feed(self, data: bytes) -> list[Delta]:
        """The deltas whose last byte is in `data`. A line with an error ends the turn: `end` raises it. Bounds: a line
        has at most 8 MB, and each byte is read twice, however small the pieces are."""
        lines = data.split(b"\n")
        if len(lines) > 1 and self._rest:
            lines[0] = bytes(self._rest + lines[0])
            self._rest.clear()
        self._rest += lines.pop()
        if len(self._rest) > MAX_LINE_BYTES:
            raise unreadable(self._peer, f"a line of more than {MAX_LINE_BYTES // 1024 // 1024} MB")
        deltas: list[Delta] = []
        try:
            for line in lines:
                if line.startswith(b"data:") and not self.finished:
                    self._event(line[5:].strip(), deltas)
        except OutlastError as error:  # deltas before it in the same read are kept
            self._failure = error
            self.finished = True
        return deltas

    def end(self) -> tuple[list[Delta], Finish, dict[str, Any] | None]:
        """Complete the turn: missing deltas, the finish, the opaque record.

        Raises the error that was streamed; `ModelCut` if the model had not sent its stop reason.
        """
        deltas = self._last_line() if self._failure is None else []
        if self._failure is not None:
            raise self._failure
        if self._finish is None:
            raise cut(self._peer)
        finish = "refused" if self._refused else self._calls.finish(self._finish)
        return [*deltas, *self._calls.complete()], finish, self._opaque()

    def _last_line(self) -> list[Delta]:
        """A last line without its line end: whole (a server that saves a byte) or torn off with the connection."""
        line, self._rest = self._rest, bytearray()
        try:
            orjson.loads(line.removeprefix(b"data:"))
        except orjson.JSONDecodeError:
            return []
        return self.feed(bytes(line) + b"\n")

    def _event(self, data: bytes, deltas: list[Delta]) -> None:
        if data == b"[DONE]":
            self.finished = True
            if self._finish is None and self._said:  # Snowflake sends no stop reason
                self._finish = "stop"
            return
        try:
            event = orjson.loads(data)
            choices = event.get("choices")
        except (orjson.JSONDecodeError, AttributeError):
            if not data:
                return
            raise unreadable(self._peer, "a line that is not a JSON object") from None
        if event.get("error"):
            raise stream_refusal(self._peer, complaint_of(event))
        try:
            if choices and self._failure is None:
                self._choice(choices[0], deltas)
            if usage := event.get("usage"):
                self.usage = read_usage(usage)
            elif (groq := event.get("x_groq")) and groq.get("usage"):
                self.usage = read_usage(groq["usage"])
        except OutlastError:
            raise
        except (TypeError, AttributeError, KeyError, IndexError, ValueError):
            raise unreadable(self._peer, "an event of an unknown shape") from None

    def _choice(self, choice: dict[str, Any], deltas: list[Delta]) -> None:
        delta = choice.get("delta") or choice.get("message") or {}
        for field in _THOUGHTS:
            if thought := delta.get(field):
                self._reasoning_field = field
                deltas.append(ReasoningDelta(str(thought)))
                break
        if content := delta.get("content"):
            if type(content) is str:
                deltas.append(TextDelta(content))
            else:
                self._content(content, deltas)
        if words := delta.get("refusal"):
            self._refused = True
            deltas.append(TextDelta(str(words)))
        if details := delta.get("reasoning_details"):
            self._keep_details(details)
        for call in delta.get("tool_calls") or ():
            self._tool_call(call, deltas)
        if executed := delta.get("executed_tools"):  # Groq's compound systems
            deltas += [provider_tool(str(tool.get("type") or "tool"), tool.get("arguments")) for tool in executed]
        if annotations := delta.get("annotations"):
            self._cite(annotations, deltas)
        self._said = self._said or any(isinstance(delta, TextDelta | ToolCallStart) for delta in deltas)
        if reason := choice.get("finish_reason"):
            self._stop(str(reason), choice)

    def _content(self, content: list[dict[str, Any]], deltas: list[Delta]) -> None:
        """Parts of the content (Mistral), some of which are reasoning."""
        for part in content:
            if part.get("type") == "thinking":
                self._reasoning_field = THINKING_PARTS
                thoughts = part.get("thinking") or ""
                if not isinstance(thoughts, str):
                    thoughts = "".join(str(thought.get("text") or "") for thought in thoughts)
                deltas.append(ReasoningDelta(thoughts))
            elif part.get("text"):
                deltas.append(TextDelta(str(part["text"])))

    def _cite(self, annotations: list[dict[str, Any]], deltas: list[Delta]) -> None:
        """Report a web search of the provider if it cites pages (OpenRouter's plugin); once per turn."""
        if not self._cites and any(item.get("type") == "url_citation" for item in annotations):
            self._cites = True
            deltas.append(provider_tool("web_search"))

    def _tool_call(self, call: dict[str, Any], deltas: list[Delta]) -> None:
        function = call.get("function") or {}
        slot, said_id = call.get("index"), call.get("id") or ""
        if slot is None:  # Gemini and older Ollama: whole calls without an index
            slot = len(self._calls) if said_id or function.get("name") else len(self._calls) - 1
        if slot in self._theirs:
            return
        if call.get("type") not in (None, "", "function"):  # of another type: the provider runs it
            self._theirs.add(slot)
            deltas.append(provider_tool(str(function.get("name") or call["type"]), function.get("arguments")))
            return
        known = self._slots.get(slot)
        if known is None or (said_id and known[1] != said_id):  # llama.cpp repeats name and id; Ollama the index
            call_id = said_id or f"call_{secrets.token_hex(10)}"
            start = self._calls.start(call_id, str(function["name"]))
            known = self._slots[slot] = (start.index, said_id)
            deltas.append(start)
            if call.get("extra_content"):
                self._call_extras[call_id] = call["extra_content"]
        arguments = function.get("arguments")
        if arguments:
            text = arguments if type(arguments) is str else orjson.dumps(arguments).decode()
            deltas.append(self._calls.add(known[0], text))

    def _stop(self, reason: str, choice: dict[str, Any]) -> None:
        """The usage may still follow, also after a failure."""
        if reason == "content_filter":
            self._failure = policy_refused(self._peer, "the answer was stopped by the provider's filter.")
        elif reason == "error":
            self._failure = ModelCut(
                f"{self._peer.provider} reported an error in the middle of an answer of {self._peer.model}.",
                **self._peer.fields,
            )
        else:
            self._finish = _FINISHES.get(reason, "stop")

    def _keep_details(self, details: list[dict[str, Any]]) -> None:
        """Join the pieces of each reasoning block as OpenRouter requires them back: in order, unmodified."""
        for detail in details:
            last = self._details[-1] if self._details else None
            if last is None or not _continues(last, detail):
                self._details.append(dict(detail))
                continue
            for key, value in detail.items():
                if key in ("text", "summary", "data") and isinstance(value, str):
                    last[key] = (last.get(key) or "") + value
                elif value is not None:
                    last[key] = value

    def _opaque(self) -> dict[str, Any] | None:
        told = {
            "reasoning_details": self._details,
            "call_extras": self._call_extras,
            "reasoning_field": self._reasoning_field,
        }
        kept = {name: value for name, value in told.items() if value}
        made_by = {"provider": self._peer.provider, "model": self._peer.model, "v": OPAQUE_VERSION, "lasting": True}
        return {**made_by, **kept} if kept else None


def read_usage(usage: dict[str, Any]) -> Usage:
    """Token counts as OpenAI, OpenRouter (which adds `cost` in dollars), Groq, DeepSeek, Moonshot, LiteLLM write them:
    each has its own field for cached tokens."""
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    cost = usage.get("cost")
    return Usage(
        input_tokens=int(usage.get("prompt_tokens") or 0),
        output_tokens=int(usage.get("completion_tokens") or 0),
        cached_tokens=int(prompt.get("cached_tokens") or next(filter(None, map(usage.get, _CACHED)), 0)),
        reasoning_tokens=int(completion.get("reasoning_tokens") or 0),
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
    )


def _continues(last: dict[str, Any], detail: dict[str, Any]) -> bool:
    """True if a reasoning detail is the next piece of the last one: of the same kind, and without another id."""
    same_kind = all(last.get(key) == detail.get(key) for key in ("type", "index"))
    return same_kind and not (last.get("id") and detail.get("id") and last["id"] != detail["id"])
