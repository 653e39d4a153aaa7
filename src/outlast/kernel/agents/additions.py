"""Additions: tools and a text that an app gives to every listed agent."""

from collections.abc import Callable, Sequence

from outlast.base.records import dataclass
from outlast.kernel.agents.prompt import PromptContext
from outlast.kernel.agents.tool import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """`text` is called before each turn of a run, in the transaction that reads the prompt: the system text ends with
    its result. None means that this run has no part in it: the model gets neither the text nor the `tools`."""

    tools: Sequence[Tool] = ()
    text: Callable[[PromptContext], str | None]
