"""Calls of Gemini whose arguments come in pieces (`partialArgs`), joined before `pydantic_ai` sees them: it treats each
piece as a separate call without arguments. Imported only with the extra."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import orjson
from google.genai.types import Candidate, Content, FunctionCall, GenerateContentResponse, Part, PartialArg
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.google import GoogleModel

MAX_DEPTH: Final = 64
MAX_PATH_CHARS: Final = 4096
_STEP: Final = re.compile(r"\.?([A-Za-z_$][\w$-]*)|\[(\d{1,9})\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")


class PartialCallModel(GoogleModel):
    """Google's model with whole calls."""

    async def _process_streamed_response(
        self, response: AsyncIterator[GenerateContentResponse], model_request_parameters: ModelRequestParameters
    ) -> StreamedResponse:
        return await super()._process_streamed_response(whole_calls(response), model_request_parameters)


async def whole_calls(chunks: AsyncIterator[GenerateContentResponse]) -> AsyncIterator[GenerateContentResponse]:
    """The same chunks, each call in the one in which it ended. A call that never ended comes last, with truncated
    arguments as text, so that it is handled like any call that was cut."""
    pieces = CallPieces()
    async for chunk in chunks:
        candidates = chunk.candidates or []
        content = candidates[0].content if candidates else None
        if content is not None and content.parts:
            content.parts = [whole for part in content.parts for whole in pieces.feed(part)]
        yield chunk
    for part in pieces.cut():
        yield GenerateContentResponse(candidates=[Candidate(content=Content(role="model", parts=[part]))])


class CallPieces:
    """Joins the calls of one answer, in one step per piece."""

    def __init__(self) -> None:
        # The part that the open call began with, which has its signature, and its call.
        self._open: tuple[Part, FunctionCall] | None = None
        self._arguments: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}  # by path, in the pieces in which they came
        self._is_malformed = False

    def feed(self, part: Part) -> Iterator[Part]:
        """The parts that are whole now."""
        call = part.function_call
        if call is None:
            yield part
        elif self._open is not None or call.partial_args or call.will_continue:
            yield from self._continue(part, call)
        elif call.name:  # an end without a beginning says nothing
            yield part

    def cut(self) -> Iterator[Part]:
        """The received part of the call that has not ended."""
        if self._open is not None:
            self._is_malformed = True
            yield self._close()

    def _continue(self, part: Part, call: FunctionCall) -> Iterator[Part]:
        if self._open is not None and _is_another(call, self._open[1]):
            yield self._close()
        if self._open is None:
            self._open = part, call
        self._arguments.update(call.args or {})
        for piece in call.partial_args or ():
            self._take(piece)
        if not call.will_continue and not any(piece.will_continue for piece in call.partial_args or ()):
            yield self._close()

    def _take(self, piece: PartialArg) -> None:
        path = piece.json_path or ""
        if piece.string_value is not None:
            texts = self._texts.setdefault(path, [])
            texts.append(piece.string_value)
            if len(texts) > 1:
                return
        if not _put(self._arguments, path, _value(piece)):
            self._is_malformed = True

    def _close(self) -> Part:
        assert self._open is not None
        (part, begun), self._open = self._open, None
        for path, texts in self._texts.items():
            _put(self._arguments, path, "".join(texts))
        arguments: Any = self._arguments
        if self._is_malformed:
            arguments = orjson.dumps(arguments).decode().removesuffix("}")
        part.function_call = FunctionCall.model_construct(id=begun.id, name=begun.name, args=arguments)
        self._arguments, self._texts, self._is_malformed = {}, {}, False
        return part


def _is_another(call: FunctionCall, begun: FunctionCall) -> bool:
    return bool((call.id and begun.id and call.id != begun.id) or (call.name and call.name != begun.name))


def _value(piece: PartialArg) -> Any:
    if piece.string_value is not None:
        return piece.string_value
    if piece.number_value is not None:
        number = piece.number_value
        return int(number) if number.is_integer() else number
    return piece.bool_value  # None: it is null


def _put(arguments: dict[str, Any], path: str, value: Any) -> bool:
    """Put a value at its path, such as `$.a.b[0].c`. Lists grow by one at a time. False if the path is invalid."""
    steps = _steps(path)
    if not steps:
        return False
    holder: Any = arguments
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        empty: Any = value if following is None else [] if isinstance(following, int) else {}
        if isinstance(step, int):
            if not isinstance(holder, list) or step > len(holder):
                return False
            if step == len(holder):
                holder.append(empty)
        elif not isinstance(holder, dict):
            return False
        elif step not in holder:
            holder[step] = empty
        if following is None:
            holder[step] = value
        else:
            holder = holder[step]
    return True


def _steps(path: str) -> list[str | int]:
    """The names and numbers of a path; empty if it is invalid or too deep."""
    rest, found = path[:MAX_PATH_CHARS].removeprefix("$"), list[str | int]()
    while rest and len(found) <= MAX_DEPTH:
        step = _STEP.match(rest)
        if step is None:
            return []
        name, number, *quoted = step.groups()
        found.append(int(number) if number is not None else name or next(one for one in quoted if one is not None))
        rest = rest[step.end() :]
    return found if not rest and len(path) <= MAX_PATH_CHARS else []
