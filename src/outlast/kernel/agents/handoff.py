"""Handoffs: tools with which an agent gives the conversation to another one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool

if TYPE_CHECKING:  # as in `tool`
    from pydantic import BaseModel

PREFIX: Final = "transfer_to_"
MAX_ABOUT_CHARS: Final = 500


class HandoffTool(Tool):
    """A tool that hands the conversation over to the agent `target`: `transfer_to_` and the agent's name, with `_` for
    `-`. Its call is not made as others are: after them it ends the run (`runs/handoffs.py`)."""

    def __init__(self, target: str, title: str = "", about: str = "") -> None:
        described = (
            f"Hand the conversation over to the agent {title or target}, for good: it answers the person from now on, "
            f"and your work ends. It reads the conversation and your reason. {about}"
        )
        super().__init__(PREFIX + target.replace("-", "_"), described[:MAX_ABOUT_CHARS].strip(), _reason, _never)
        self.target = target


def _reason() -> "type[BaseModel]":
    from outlast.kernel.agents.arguments import Reason

    return Reason


async def _never(_context: Context, _arguments: Mapping[str, Any]) -> str:
    raise NotImplementedError("A transfer ends its run; it is not called.")
