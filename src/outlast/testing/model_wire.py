"""The four wire formats of the model server, from the server's side: an answer as frames of server-sent events.

Each writer turns the same plain pieces into the provider's format; no code is shared with the adapters, so the same
misunderstanding cannot hide in both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import orjson

PieceKind = Literal["reasoning", "text", "call", "arguments"]


@dataclass(frozen=True, slots=True)
class WirePiece:
    """One streamed piece: `text` (for a call the tool's name), and the call it belongs to."""

    kind: PieceKind
    text: str
    call: int = 0
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class WireEnd:
    """The end of an answer: its reason (`stop`, `tool_calls`, `length`, `content_filter`) and the usage."""

    finish: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


def _frame(value: Any, event: str = "", line_end: bytes = b"\n") -> bytes:
    name = b"event: %b%b" % (event.encode(), line_end) if event else b""
    return b"%bdata: %b%b%b" % (name, orjson.dumps(value), line_end, line_end)


def _openai_failure(kind: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": kind, "param": None}}


class ChatWriter:
    """OpenAI chat completions."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._model = str(body.get("model", ""))
        self._with_usage = bool((body.get("stream_options") or {}).get("include_usage"))

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _frame({**self._head(), "choices": [choice]})

    def _head(self) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": self._model}

    def open(self) -> Iterator[bytes]:
        yield self._chunk({"role": "assistant", "content": ""})

    def piece(self, piece: WirePiece) -> Iterator[bytes]:
        match piece.kind:
            case "text":
                yield self._chunk({"content": piece.text})
            case "reasoning":
                detail = {"type": "reasoning.text", "text": piece.text, "index": 0, "format": "unknown"}
                yield self._chunk({"reasoning": piece.text, "reasoning_details": [detail]})
            case "call":
                function = {"name": piece.text, "arguments": ""}
                call = {"index": piece.call, "id": piece.call_id, "type": "function", "function": function}
                yield self._chunk({"tool_calls": [call]})
            case "arguments":
                yield self._chunk({"tool_calls": [{"index": piece.call, "function": {"arguments": piece.text}}]})

    def close(self, end: WireEnd) -> Iterator[bytes]:
        yield self._chunk({}, end.finish)
        if self._with_usage:
            usage = {
                "prompt_tokens": end.input_tokens,
                "completion_tokens": end.output_tokens,
                "total_tokens": end.input_tokens + end.output_tokens,
                "prompt_tokens_details": {"cached_tokens": end.cached_tokens},
            }
            yield _frame({**self._head(), "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def failure(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return _openai_failure(kind, message)

    def failure_event(self, status: int, kind: str, message: str) -> bytes:
        return _frame({"error": {"message": message, "code": status, "type": kind}})


class _Blocks:
    """Base of formats whose answer is a list of numbered blocks: closes the open block when another kind of piece
    begins."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._model = str(body.get("model", ""))
        self._open: WirePiece | None = None
        self._index = -1
        self._said = ""

    def piece(self, piece: WirePiece) -> Iterator[bytes]:
        continues = self._open is not None and (
            piece.kind == "arguments" or (piece.kind == self._open.kind and piece.kind != "call")
        )
        if not continues:
            yield from self._close_block()
            self._open, self._said = piece, ""
            self._index += 1
            yield from self._begin(piece)
        if piece.kind != "call":
            self._said += piece.text
            yield from self._continue(piece)

    def _close_block(self) -> Iterator[bytes]:
        if self._open is not None:
            yield from self._end(self._open)
        self._open = None

    def _begin(self, piece: WirePiece) -> Iterator[bytes]:
        raise NotImplementedError

    def _continue(self, piece: WirePiece) -> Iterator[bytes]:
        raise NotImplementedError

    def _end(self, piece: WirePiece) -> Iterator[bytes]:
        raise NotImplementedError


class AnthropicWriter(_Blocks):
    """Anthropic messages."""

    _STOPS: Final = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}

    def _event(self, kind: str, **fields: Any) -> bytes:
        return _frame({"type": kind, **fields}, kind)

    def open(self) -> Iterator[bytes]:
        message: dict[str, Any] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 11, "output_tokens": 1},
        }
        yield self._event("message_start", message=message)
        yield self._event("ping")

    def _begin(self, piece: WirePiece) -> Iterator[bytes]:
        blocks: dict[str, dict[str, Any]] = {
            "text": {"type": "text", "text": ""},
            "reasoning": {"type": "thinking", "thinking": "", "signature": ""},
            "call": {"type": "tool_use", "id": piece.call_id, "name": piece.text, "input": {}},
        }
        yield self._event("content_block_start", index=self._index, content_block=blocks[piece.kind])

    def _continue(self, piece: WirePiece) -> Iterator[bytes]:
        deltas: dict[str, dict[str, Any]] = {
            "text": {"type": "text_delta", "text": piece.text},
            "reasoning": {"type": "thinking_delta", "thinking": piece.text},
            "arguments": {"type": "input_json_delta", "partial_json": piece.text},
        }
        yield self._event("content_block_delta", index=self._index, delta=deltas[piece.kind])

    def _end(self, piece: WirePiece) -> Iterator[bytes]:
        if piece.kind == "reasoning":
            signature = {"type": "signature_delta", "signature": f"signed:{len(self._said)}"}
            yield self._event("content_block_delta", index=self._index, delta=signature)
        yield self._event("content_block_stop", index=self._index)

    def close(self, end: WireEnd) -> Iterator[bytes]:
        yield from self._close_block()
        usage = {
            "input_tokens": end.input_tokens - end.cached_tokens,
            "cache_read_input_tokens": end.cached_tokens,
            "output_tokens": end.output_tokens,
        }
        delta = {"stop_reason": self._STOPS[end.finish], "stop_sequence": None}
        yield self._event("message_delta", delta=delta, usage=usage)
        yield self._event("message_stop")

    def failure(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": kind, "message": message}}

    def failure_event(self, status: int, kind: str, message: str) -> bytes:
        return _frame(self.failure(status, kind, message), "error")


class _ItemEvents(NamedTuple):
    """The events of one kind of item: their names, and their fields beside the text."""

    text_event: str
    part_event: str = ""
    place: Mapping[str, int] = {}
    part: Mapping[str, Any] = {}
    extra: Mapping[str, Any] = {}


_SUMMARY: Final = {"type": "summary_text"}
_OUTPUT: Final = {"type": "output_text", "annotations": []}
_ITEMS: Final[Mapping[str, _ItemEvents]] = {
    "reasoning": _ItemEvents("reasoning_summary_text", "reasoning_summary_part", {"summary_index": 0}, _SUMMARY),
    "text": _ItemEvents("output_text", "content_part", {"content_index": 0}, _OUTPUT, {"logprobs": []}),
    "call": _ItemEvents("function_call_arguments"),
}


def _item_id(piece: WirePiece) -> str:
    return {"reasoning": "rs_1", "text": "msg_1"}.get(piece.kind, f"fc_{piece.call}")


class ResponsesWriter(_Blocks):
    """OpenAI Responses."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body)
        self._number = -1
        self._output: list[dict[str, Any]] = []

    def _event(self, kind: str, **fields: Any) -> bytes:
        self._number += 1
        return _frame({"type": kind, "sequence_number": self._number, **fields}, kind)

    def _response(self, status: str, **fields: Any) -> dict[str, Any]:
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": status,
            "model": self._model,
            "output": self._output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            **fields,
        }

    def open(self) -> Iterator[bytes]:
        yield self._event("response.created", response=self._response("in_progress"))
        yield self._event("response.in_progress", response=self._response("in_progress"))

    def _at(self, piece: WirePiece) -> dict[str, Any]:
        return {"item_id": _item_id(piece), "output_index": self._index, **_ITEMS[piece.kind].place}

    def _item(self, piece: WirePiece, status: str) -> dict[str, Any]:
        head = {"id": _item_id(piece), "status": status}
        parts = [{**_ITEMS[piece.kind].part, "text": self._said}] if status == "completed" else []
        match piece.kind:
            case "reasoning":
                return {"type": "reasoning", **head, "summary": parts, "encrypted_content": "sealed"}
            case "text":
                return {"type": "message", **head, "role": "assistant", "content": parts}
            case _:
                call = {"call_id": piece.call_id, "name": piece.text, "arguments": self._said}
                return {"type": "function_call", **head, **call}

    def _begin(self, piece: WirePiece) -> Iterator[bytes]:
        item, names = self._item(piece, "in_progress"), _ITEMS[piece.kind]
        yield self._event("response.output_item.added", output_index=self._index, item=item)
        if names.part:
            part = {**names.part, "text": ""}
            yield self._event(f"response.{names.part_event}.added", **self._at(piece), part=part)

    def _continue(self, piece: WirePiece) -> Iterator[bytes]:
        owner = self._open or piece
        names = _ITEMS[owner.kind]
        yield self._event(f"response.{names.text_event}.delta", **self._at(owner), **names.extra, delta=piece.text)

    def _end(self, piece: WirePiece) -> Iterator[bytes]:
        item, names, at = self._item(piece, "completed"), _ITEMS[piece.kind], self._at(piece)
        said = {"text": self._said} if names.part else {"name": piece.text, "arguments": self._said}
        yield self._event(f"response.{names.text_event}.done", **at, **names.extra, **said)
        if names.part:
            part = {**names.part, "text": self._said}
            yield self._event(f"response.{names.part_event}.done", **at, part=part)
        self._output = [*self._output, item]
        yield self._event("response.output_item.done", output_index=self._index, item=item)

    def close(self, end: WireEnd) -> Iterator[bytes]:
        yield from self._close_block()
        usage = {
            "input_tokens": end.input_tokens,
            "input_tokens_details": {"cached_tokens": end.cached_tokens},
            "output_tokens": end.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": end.input_tokens + end.output_tokens,
        }
        reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
        if end.finish in reasons:
            details = {"reason": reasons[end.finish]}
            response = self._response("incomplete", usage=usage, incomplete_details=details)
            yield self._event("response.incomplete", response=response)
        else:
            yield self._event("response.completed", response=self._response("completed", usage=usage))

    def failure(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return _openai_failure(kind, message)

    def failure_event(self, status: int, kind: str, message: str) -> bytes:
        return self._event("error", code=kind, message=message, param=None)


class GeminiWriter:
    """Google's streamGenerateContent. Tool calls come whole, so argument pieces are collected."""

    _STOPS: Final = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}

    def __init__(self, body: dict[str, Any]) -> None:
        self._call: WirePiece | None = None
        self._arguments = ""
        self._malformed = False

    def _chunk(self, parts: list[dict[str, Any]], usage: dict[str, int] | None = None, **candidate: Any) -> bytes:
        candidates = [{"index": 0, "content": {"role": "model", "parts": parts}, **candidate}]
        value = {"candidates": candidates, "modelVersion": "m", "responseId": "r1"}
        return _frame(value | ({"usageMetadata": usage} if usage else {}), line_end=b"\r\n")

    def open(self) -> Iterator[bytes]:
        yield from ()

    def piece(self, piece: WirePiece) -> Iterator[bytes]:
        if piece.kind == "arguments":
            self._arguments += piece.text
            return
        yield from self._whole_call()
        if piece.kind == "call":
            self._call, self._arguments = piece, ""
        elif piece.kind == "reasoning":
            yield self._chunk([{"text": piece.text, "thought": True}])
        else:
            yield self._chunk([{"text": piece.text}])

    def _whole_call(self) -> Iterator[bytes]:
        if self._call is None:
            return
        call, self._call = self._call, None
        try:
            arguments = orjson.loads(self._arguments or "{}")
        except orjson.JSONDecodeError:
            # Gemini sends this for a call that it could not finish, and then nothing more
            self._malformed = True
            yield self._chunk([], finishReason="MALFORMED_FUNCTION_CALL", finishMessage="malformed function call")
            return
        function = {"id": call.call_id, "name": call.text, "args": arguments}
        yield self._chunk([{"functionCall": function, "thoughtSignature": "c2lnbmVk"}])

    def close(self, end: WireEnd) -> Iterator[bytes]:
        yield from self._whole_call()
        if self._malformed:
            return
        usage = {
            "promptTokenCount": end.input_tokens,
            "candidatesTokenCount": end.output_tokens,
            "cachedContentTokenCount": end.cached_tokens,
            "totalTokenCount": end.input_tokens + end.output_tokens,
        }
        yield self._chunk([], usage, finishReason=self._STOPS[end.finish])

    def failure(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return {"error": {"code": status, "message": message, "status": kind.upper()}}

    def failure_event(self, status: int, kind: str, message: str) -> bytes:
        return _frame(self.failure(status, kind, message), line_end=b"\r\n")


Writer = ChatWriter | AnthropicWriter | ResponsesWriter | GeminiWriter
