"""Flows: work in plain Python that calls agents, instead of a model that decides what is next."""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any

from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context

Flow = Callable[[Context], Awaitable[Any]]


def flow(name: str, **options: Any) -> Callable[[Flow], Agent]:
    """Make an async function an agent of this name. Its run is the function, and its answer what the function returns.

        @flow("weekly-digest", schedule="0 8 * * MON", zone="Europe/Berlin")
        async def digest(ctx: Context) -> str:
            letters = await ctx.step("letters", inbox.last_week)
            verdicts = await ctx.gather(*(ctx.run(triage, letter, key=str(n)) for n, letter in enumerate(letters)))
            if any(verdict.urgent for verdict in verdicts) and await ctx.ask("Send it now?", ["yes", "no"]) == "no":
                return "not sent"
            return await ctx.run(support, "Write the digest.", context=verdicts)

    `Context` says what survives a crash. A text is shown as Markdown, anything else as JSON. `options` are those of
    `Agent` that apply: `title`, `description`, `icon`, `sandbox`, `listed`, `model`, `schedule`, `zone`. Raises
    `TypeError` for a function that is not an `async def`, and `ValueError` as `Agent` does.
    """

    def make(function: Flow) -> Agent:
        if not iscoroutinefunction(function):
            raise TypeError(f"The flow {name} needs to be an async def.")
        return Agent(name, flow=function, **options)

    return make
