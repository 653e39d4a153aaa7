"""The demo model: recorded answers, real tool calls. It needs no key and no network, and says that it is a demo.

The words of the last user message select the answer; the number of tool results since then is its progress. So after
a restart, an answer continues where the transcript ends.
"""

import hashlib
from collections.abc import AsyncGenerator, Iterable, Sequence

import orjson

from outlast.base.clock import Clock, SystemClock
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.protocol import (
    CHECK_MARK,
    NOTE_MARK,
    TAKE_OVER_MARK,
    Delta,
    ModelMessage,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    TextPiece,
    ToolResultPiece,
    TurnEnd,
    Usage,
)
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.settings import ProviderConfig
from outlast.kernel.models.turn_calls import TurnCalls, split_words
from outlast_demo.documents.scene import is_document
from outlast_demo.documents.scripts import document_lines
from outlast_demo.documents.summaries import is_summary, summary_lines
from outlast_demo.lines import Line, Say, Think, Use, Write
from outlast_demo.own_tools import own_lines
from outlast_demo.pages.scene import is_page
from outlast_demo.pages.scripts import page_lines
from outlast_demo.screens.scripts import is_screen, screen_lines
from outlast_demo.scripts import Scene, choose_script


def open_model(config: ProviderConfig, key: ApiKey, connections: Connections, clock: Clock) -> "DemoModel":
    """The entry point; the demo needs neither key nor connections."""
    return DemoModel(delta_delay_s=config.delta_delay_s, clock=clock)


class DemoModel:
    """A `LanguageModel` that streams word by word, `delta_delay_s` seconds apart. 0 turns the delay off."""

    def __init__(self, *, delta_delay_s: float = 0.02, clock: Clock | None = None) -> None:
        self._delay_s = delta_delay_s
        self._clock = clock or SystemClock()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """One batch per word. Deterministic: the same request gives the same deltas. Never raises."""
        lines = _lines(request)
        calls = TurnCalls()
        output_tokens = 0
        for number, line in enumerate(lines):
            for delta in _deltas(line, calls, _call_id(request, number)):
                output_tokens += 1
                yield [delta]
                if self._delay_s > 0:
                    await self._clock.sleep(self._delay_s)
        usage = Usage(input_tokens=_rough_tokens(request), output_tokens=output_tokens, cost_usd=0.0)
        yield [*calls.complete(), TurnEnd(calls.finish("stop"), usage)]


def _lines(request: ModelRequest) -> Sequence[Line]:
    if is_screen(request):
        return screen_lines(request)
    if is_page(request):
        return page_lines(request)
    if is_document(request):
        return document_lines(request)
    if is_summary(request):
        return summary_lines(request)
    scene = _scene(request)
    own = own_lines(scene, request.tools, request.tool_choice)
    return choose_script(scene)(scene) if own is None else own


def _scene(request: ModelRequest) -> Scene:
    """The last user message and the tool results since. A report of a check is not a user message; the reason of an
    agent that handed the conversation over counts as one."""
    asked, results, found = "", list[ToolResultPiece](), list[str]()
    for message in request.messages:
        if message.role == "user" and (text := _text(message)).startswith(CHECK_MARK):
            found.append(text)
        elif message.role == "user" and text.startswith(TAKE_OVER_MARK):
            asked, results, found = text.partition("\n")[2], [], []
        elif message.role == "user" and not text.startswith(NOTE_MARK):
            asked, results, found = text, [], []
        results += [piece for piece in message.pieces if isinstance(piece, ToolResultPiece)]
    tools = frozenset(tool.name for tool in request.tools)
    return Scene(asked=asked, results=tuple(results), tools=tools, found=tuple(found))


def _deltas(line: Line, calls: TurnCalls, call_id: str) -> Iterable[Delta]:
    match line:
        case Think(text):
            yield from map(ReasoningDelta, split_words(text))
        case Say(text):
            yield from map(TextDelta, split_words(text))
        case Write(text, piece_chars):
            for at in range(0, len(text), piece_chars):
                yield TextDelta(text[at : at + piece_chars])
        case Use(tool, arguments, piece_chars):
            start = calls.start(call_id, tool)
            yield start
            text = orjson.dumps(arguments).decode()
            for at in range(0, len(text), piece_chars):
                yield calls.add(start.index, text[at : at + piece_chars])


def _call_id(request: ModelRequest, number: int) -> str:
    """Different for every call of a thread, equal when the same step is requested again."""
    digest = hashlib.sha256(str(request.metadata.get("run_id", "")).encode())
    for message in request.messages:
        for piece in message.pieces:
            digest.update(repr(piece).encode())
    digest.update(bytes([number]))
    return f"call_{digest.hexdigest()[:20]}"


def _text(message: ModelMessage) -> str:
    return " ".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece))


def _rough_tokens(request: ModelRequest) -> int:
    characters = len(request.system)
    for message in request.messages:
        for piece in message.pieces:
            characters += len(getattr(piece, "text", "") or getattr(piece, "content", "") or "")
    return characters // 4
