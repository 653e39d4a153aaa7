"""The agent `chat` as a flow, for servers that are killed in the middle of it: three steps, five runs of the agent
`worker` side by side, and a question. Each step adds a line to the file `effects` beside that of the crash point."""

import os
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from outlast import Agent, Context, flow
from outlast.kernel.apps.opened import Opened, Opening
from tests.crash.crash_database import POINT_FILE

CHILDREN: Final = 5
EFFECTS: Final = "effects"  # the file's name
WORKER: Final = Agent("worker", instructions="Work.", listed=False)


def open_app(opening: Opening) -> Opened:
    """The agents `chat` and `worker`."""
    return Opened(agents=[job, WORKER])


def note(effect_id: str, name: str) -> str:
    """The effect of a step."""
    with Path(os.environ[POINT_FILE]).with_name(EFFECTS).open("a") as file:
        file.write(f"{effect_id} {name}\n")
    return f"{name} is done"


async def note_soon(effect_id: str, name: str) -> str:
    """The same, on the event loop."""
    return note(effect_id, name)


@flow("chat")
async def job(ctx: Context) -> str:
    ctx.show("I begin.")
    await ctx.step("first", note, ctx.effect_id, "first")
    ctx.show("The first step is done.")
    await ctx.state.update(lambda state: {**state, "jobs": state.get("jobs", 0) + 1})
    await ctx.state.set("tone", await ctx.state.get("tone", "none"))
    ask = partial(_message, ctx.message)
    *answers, beside = await ctx.gather(
        *(ctx.run(WORKER, ask(n), key=str(n)) for n in range(CHILDREN)),
        ctx.step("beside", note_soon, ctx.effect_id, "beside"),
    )
    tone = await ctx.ask("Which tone?", ["dry", "warm"])
    ctx.show(f"In a {tone} tone.")
    last = await ctx.step("last", note, ctx.effect_id, "last")
    return "; ".join([*answers, beside, tone, last])


def _message(message: str, number: int) -> str:
    """The job's mark, and the turn of this child from the directive of the job's message."""
    mark, _, directive = message.partition(": ")
    turns: list[dict[str, Any]] = orjson.loads(directive[directive.index("[[model ") + 8 : -2])
    return f"{mark}: part {number}. [[model {orjson.dumps(turns[number]).decode()}]]"
