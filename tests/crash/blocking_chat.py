"""The agent `chat` with a tool that blocks the event loop, for servers that must keep their runs all the same."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from outlast.apps.chat.agent import chat_agent
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import tool
from outlast.kernel.apps.opened import Opening
from tests.crash.server import until

LOST_S: Final = 20.0  # instead of `loop_watch.LOST_S`
CALLS: Final = "calls"  # a line for each call
GO: Final = "go"  # from when this file exists the loop is blocked


@tool
async def block_loop(ctx: Context, folder: str, seconds: float) -> str:
    """Block the event loop."""
    with (Path(folder) / CALLS).open("a") as file:
        file.write(f"{ctx.effect_id}\n")
    await until((Path(folder) / GO).exists)
    time.sleep(seconds)  # noqa: ASYNC251  # what is tested
    return "It was blocked."


def blocking_chat(opening: Opening) -> Agent:
    """The agent, with no other tool."""
    return replace(chat_agent(opening), tools=[block_loop])


def turns(folder: Path, seconds: float) -> list[dict[str, Any]]:
    """What a model says that calls the tool once."""
    call = {"id": "call_block", "name": "block_loop", "arguments": {"folder": str(folder), "seconds": seconds}}
    return [{"calls": [call]}, {"text": "Done."}]
