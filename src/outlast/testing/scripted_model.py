"""A language model that plays a test's script, and can be held, hung and broken at any point.

    model = ScriptedModel([turn("Let me look.", Call("terminal", {"command": "ls"})), turn("Two files.")])

Each request plays the next turn and is recorded in `requests`. Steps of a turn: a string (streamed word by word),
`Think`, `Call`, `Fail`, `WaitFor` (an event the test sets), `HANG` (until cancelled).
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import orjson

from outlast.base.errors import OutlastError
from outlast.kernel.models.protocol import (
    Delta,
    Finish,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    TurnEnd,
    Usage,
    UsageDelta,
)
from outlast.kernel.models.provider_tools import provider_tool
from outlast.kernel.models.turn_calls import TurnCalls, split_words


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning, streamed word by word."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. `arguments`: the object, or its JSON text (which may be broken on purpose)."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Fail:
    """The stream breaks here with this error; `usage` is what the provider had counted by then."""

    error: OutlastError
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Pauses until the test sets `event`."""

    event: anyio.Event


@dataclass(frozen=True, slots=True)
class Hang:
    """Hangs forever, until it is cancelled."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The provider searches the web by itself."""

    query: str


HANG: Final = Hang()

USUAL: Final = Usage(input_tokens=10, output_tokens=5, cost_usd=0.0)

Step = str | Think | Call | Fail | Searched | WaitFor | Hang


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer. A `finish` other than `stop` is kept; calls change `stop` to `tool_calls`."""

    steps: tuple[Step, ...]
    finish: Finish = "stop"
    usage: Usage = USUAL
    opaque: dict[str, Any] | None = None


def turn(
    *steps: Step, finish: Finish = "stop", usage: Usage | None = None, opaque: dict[str, Any] | None = None
) -> Turn:
    """Shorthand for `Turn((…,))` with a typical usage."""
    return Turn(steps, finish, usage or USUAL, opaque)


class ScriptedModel:
    """A `LanguageModel` that plays `turns` in order.

    `turns` may also be a function from the request to its turn (for tests whose requests come in any order). A request
    beyond the last turn fails the test with an `AssertionError`, unless `repeat_last` is set. `open_streams` counts
    streams begun and not yet ended or closed; `abandoned` those closed before their end.
    """

    def __init__(
        self, turns: Iterable[Turn] | Callable[[ModelRequest], Turn] = (), *, repeat_last: bool = False
    ) -> None:
        self.requests: list[ModelRequest] = []
        self.open_streams = 0
        self.abandoned = 0
        self._choose = turns if callable(turns) else None
        self._turns: list[Turn] = [] if callable(turns) else list(turns)
        self._repeat_last = repeat_last
        self._arrived = anyio.Event()

    def add(self, *turns: Turn) -> None:
        """Append turns to the script."""
        self._turns.extend(turns)

    async def wait_requests(self, count: int) -> None:
        """Return once at least `count` requests have been made (they may still be streaming)."""
        while len(self.requests) < count:
            await self._arrived.wait()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Play the next turn: one batch per word, call or end."""
        self.requests.append(request)
        self._arrived.set()
        self._arrived = anyio.Event()
        chosen = self._next_turn(request)
        self.open_streams += 1
        ended = False
        try:
            calls = TurnCalls()
            for number, step in enumerate(chosen.steps):
                async for batch in _play(step, calls, f"call_{len(self.requests)}_{number}"):
                    yield batch
            yield [*calls.complete(), TurnEnd(calls.finish(chosen.finish), chosen.usage, chosen.opaque)]
            ended = True
        finally:
            self.open_streams -= 1
            self.abandoned += not ended

    def _next_turn(self, request: ModelRequest) -> Turn:
        if self._choose is not None:
            return self._choose(request)
        position = len(self.requests) - 1
        if self._repeat_last and self._turns:
            position = min(position, len(self._turns) - 1)
        assert position < len(self._turns), f"request {position + 1} came, the script has {len(self._turns)} turns"
        return self._turns[position]


async def _play(step: Step, calls: TurnCalls, call_id: str) -> AsyncGenerator[Sequence[Delta], None]:
    match step:
        case str():
            for word in split_words(step):
                yield [TextDelta(word)]
        case Think(text):
            for word in split_words(text):
                yield [ReasoningDelta(word)]
        case Call(name, arguments, given_id):
            text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
            start = calls.start(given_id or call_id, name)
            yield [start]
            for at in range(0, len(text), 12):
                yield [calls.add(start.index, text[at : at + 12])]
        case Fail(error, usage):
            if usage is not None:
                yield [UsageDelta(usage)]
            raise error
        case Searched(query):
            yield [provider_tool("web_search", {"query": query})]
        case WaitFor(event):
            await event.wait()
        case Hang():
            await anyio.sleep_forever()
