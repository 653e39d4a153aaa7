"""The agent `chat` as one of pydantic-ai, for servers that are killed in the middle of it: three turns, of which the
first calls two tools side by side and the second one that a person approves. Each call adds a line to the file
`effects` beside that of the crash point."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import anyio
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from outlast import OutlastDurability
from outlast.kernel.agents.guests.adoption import adopt
from outlast.kernel.apps.opened import Opened, Opening
from tests.crash.crash_database import POINT_FILE

EFFECTS: Final = "effects"  # the file's name
ANSWER: Final = "All of it is done."
TURNS: Final = (
    (("note", '{"name": "first"}'), ("note_soon", '{"name": "second"}')),
    (("note_soon", '{"name": "third"}'), ("pay", "{}")),
    ANSWER,
)
PACE_S: Final = 0.02


async def _play(messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[Any]:
    number = sum(isinstance(message, ModelResponse) for message in messages)
    turn = TURNS[number]
    for word in ("Turn ", f"{number}. ") if not isinstance(turn, str) else ANSWER.split(" "):
        await anyio.sleep(PACE_S)
        yield word if word.endswith((" ", ".")) else f"{word} "
    for index, (tool, arguments) in enumerate(() if isinstance(turn, str) else turn, start=1):
        await anyio.sleep(PACE_S)
        yield {index: DeltaToolCall(tool, arguments, tool_call_id=f"call-{number}-{index}")}


guest = Agent(FunctionModel(stream_function=_play), name="chat", capabilities=[OutlastDurability()])


def _noted(ctx: RunContext[Any], name: str) -> str:
    with Path(os.environ[POINT_FILE]).with_name(EFFECTS).open("a") as file:
        file.write(f"{ctx.run_id} {name}\n")
    return f"{name} is done"


@guest.tool
def note(ctx: RunContext[Any], name: str) -> str:
    """Note something, in a thread."""
    return _noted(ctx, name)


@guest.tool
async def note_soon(ctx: RunContext[Any], name: str) -> str:
    """Note something, on the event loop."""
    await anyio.sleep(PACE_S)
    return _noted(ctx, name)


@guest.tool(requires_approval=True)
async def pay(ctx: RunContext[Any]) -> str:
    """Pay."""
    return _noted(ctx, "pay")


def open_app(opening: Opening) -> Opened:
    """The agent `chat`."""
    adopted = adopt(guest)
    assert adopted is not None
    return Opened(agents=[adopted])
