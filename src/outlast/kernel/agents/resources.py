"""What a function finds in its context beside its steps: the state of its thread."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol


class State(Protocol):
    """The state of the thread: a JSON object of at most 64 KiB that all runs and agents of the thread share, also the
    agents that they call.

        stage = await ctx.state.get("stage", "new")
        await ctx.state.set("stage", "paid")
        await ctx.state.update(lambda state: {**state, "paid": state.get("paid", 0) + 1})

    Each of these is a step: what was read is recorded, and what was written is written once, in the transaction that
    records it. People and programs read the state with the thread (`GET /v1/threads/{id}/state`), so keep no secrets in
    it. Raises `StepFailed` for a key that is not a text of 1 to 200 characters, for a value that is not JSON, and if
    the state would become too large.
    """

    async def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or `default` if there is none."""

    async def all(self) -> dict[str, Any]:
        """The whole state."""

    async def set(self, key: str, value: Any) -> None:
        """Set the value of a key, whatever it was."""

    async def update(self, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> dict[str, Any]:
        """Replace the state by what `change` makes of it, and return that. If another run was faster, `change` is
        called again with what that one wrote; so it is a plain, quick function without effects. Raises `StepFailed`
        also if it raises."""


class Resources(Protocol):
    """What `Context` gives access to; `kernel/runs/function_resources.py` implements it."""

    @property
    def state(self) -> State: ...
