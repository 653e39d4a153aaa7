"""The four wire formats of the model server, from the server's side: an answer as frames of server-sent events.

Each writer turns the same plain pieces into what the provider would send; nothing here is shared with the adapters, so
a misunderstanding cannot hide in both.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

PieceKind = Literal["reasoning", "text", "call", "arguments"]


@dataclass(frozen=True, slots=True)
class WirePiece:
    """One streamed piece: `text` (for a call its tool's name), and the call it belongs to."""

    kind: PieceKind
    text: str
    call: int = 0
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class WireEnd:
    """Why the answer ends (`stop`, `tool_calls`, `length`, `content_filter`) and what it used."""

    finish: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0


def _openai_failure(kind: str, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": kind, "param": None}}


class ChatWriter:
    """OpenAI chat completions."""

    def __init__(self, body: dict[str, Any]) -> None:
        self._model = str(body.get("model", ""))
        self._with_usage = bool((body.get("stream_options") or {}).get("include_usage"))

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: " + orjson.dumps({**self._head(), "choices": [choice]}) + b"\n\n"

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
            yield b"data: " + orjson.dumps({**self._head(), "choices": [], "usage": usage}) + b"\n\n"
        yield b"data: [DONE]\n\n"

    def failure(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return _openai_failure(kind, message)

    def failure_event(self, status: int, kind: str, message: str) -> bytes:
        return b"data: " + orjson.dumps({"error": {"message": message, "code": status, "type": kind}}) + b"\n\n"


class _Blocks:
    """Formats whose answer is a row of numbered blocks: closes the open one when another kind of piece begins."""

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
        return f"event: {kind}\ndata: ".encode() + orjson.dumps({"type": kind, **fields}) + b"\n\n"

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
        return b"event: error\ndata: " + orjson.dumps(self.failure(status, kind, message)) + b"\n\n"


class ResponsesWriter(_Blocks):
    """OpenAI Responses."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body)
        self._number = -1
        self._output: list[dict[str, Any]] = []

    def _event(self, kind: str, **fields: Any) -> bytes:
        self._number += 1
        value = {"type": kind, "sequence_number": self._number, **fields}
        return f"event: {kind}\ndata: ".encode() + orjson.dumps(value) + b"\n\n"

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

    def _at(self, item_id: str) -> dict[str, Any]:
        return {"item_id": item_id, "output_index": self._index}

    def _item(self, piece: WirePiece, status: str) -> dict[str, Any]:
        match piece.kind:
            case "reasoning":
                summary = [{"type": "summary_text", "text": self._said}] if status == "completed" else []
                return {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": summary,
                    "encrypted_content": "sealed",
                    "status": status,
                }
            case "text":
                parts = (
                    [{"type": "output_text", "text": self._said, "annotations": []}] if status == "completed" else []
                )
                return {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": parts}
            case _:
                return {
                    "type": "function_call",
                    "id": f"fc_{piece.call}",
                    "call_id": piece.call_id,
                    "name": piece.text,
                    "arguments": self._said,
                    "status": status,
                }

    def _begin(self, piece: WirePiece) -> Iterator[bytes]:
        item = self._item(piece, "in_progress")
        yield self._event("response.output_item.added", output_index=self._index, item=item)
        at = self._at(item["id"])
        if piece.kind == "reasoning":
            part = {"type": "summary_text", "text": ""}
            yield self._event("response.reasoning_summary_part.added", **at, summary_index=0, part=part)
        elif piece.kind == "text":
            empty = {"type": "output_text", "text": "", "annotations": []}
            yield self._event("response.content_part.added", **at, content_index=0, part=empty)

    def _continue(self, piece: WirePiece) -> Iterator[bytes]:
        match piece.kind:
            case "reasoning":
                at = {**self._at("rs_1"), "summary_index": 0}
                yield self._event("response.reasoning_summary_text.delta", **at, delta=piece.text)
            case "text":
                at = {**self._at("msg_1"), "content_index": 0, "logprobs": []}
                yield self._event("response.output_text.delta", **at, delta=piece.text)
            case _:
                yield self._event(
                    "response.function_call_arguments.delta", **self._at(f"fc_{piece.call}"), delta=piece.text
                )

    def _end(self, piece: WirePiece) -> Iterator[bytes]:
        item = self._item(piece, "completed")
        at = self._at(item["id"])
        if piece.kind == "reasoning":
            summary = {"type": "summary_text", "text": self._said}
            yield self._event("response.reasoning_summary_text.done", **at, summary_index=0, text=self._said)
            yield self._event("response.reasoning_summary_part.done", **at, summary_index=0, part=summary)
        elif piece.kind == "text":
            part: dict[str, Any] = {"type": "output_text", "text": self._said, "annotations": []}
            yield self._event("response.output_text.done", **at, content_index=0, text=self._said, logprobs=[])
            yield self._event("response.content_part.done", **at, content_index=0, part=part)
        else:
            done = {"name": piece.text, "arguments": self._said}
            yield self._event("response.function_call_arguments.done", **at, **done)
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

    content_type = "text/event-stream"
    _STOPS: Final = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}

    def __init__(self, body: dict[str, Any]) -> None:
        self._call: WirePiece | None = None
        self._arguments = ""
        self._malformed = False

    def _chunk(self, parts: list[dict[str, Any]], **candidate: Any) -> bytes:
        content = {"role": "model", "parts": parts}
        value = {"candidates": [{"index": 0, "content": content, **candidate}], "modelVersion": "m", "responseId": "r1"}
        return b"data: " + orjson.dumps(value) + b"\r\n\r\n"

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
            # What Gemini says of a call it could not write to its end, and then no more
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
        candidate = {"index": 0, "content": {"role": "model", "parts": []}, "finishReason": self._STOPS[end.finish]}
        value = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r1"}
        yield b"data: " + orjson.dumps(value) + b"\r\n\r\n"

    def failure(self, status: int, kind: str, message: str) -> dict[str, Any]:
        return {"error": {"code": status, "message": message, "status": kind.upper()}}

    def failure_event(self, status: int, kind: str, message: str) -> bytes:
        return b"data: " + orjson.dumps(self.failure(status, kind, message)) + b"\r\n\r\n"


Writer = ChatWriter | AnthropicWriter | ResponsesWriter | GeminiWriter
