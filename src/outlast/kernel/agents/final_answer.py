"""An answer that is an object: a tool that accepts it, and a check that it exists."""

from typing import TYPE_CHECKING, Any, Final

from outlast.kernel.agents.context import Context, StageContext
from outlast.kernel.agents.tool import Tool
from outlast.kernel.runs.stage_plan import FINAL_ANSWER

if TYPE_CHECKING:
    from pydantic import BaseModel

    from outlast.kernel.agents.hooks import StageResult

DESCRIPTION: Final = "Give your answer. Call it once, when everything is done: it ends your work."
MISSING: Final = "You have not given your answer yet. Call final_answer with it."


def answer_tool(output: "type[BaseModel]") -> Tool:
    """The tool that takes an answer of this shape. The journal of the run keeps it, as the arguments of the call."""

    async def take(_context: Context, _answer: Any) -> str:
        return "Your answer was accepted."

    return Tool(FINAL_ANSWER, DESCRIPTION, lambda: output, take, repeatable=True)


async def check_answer(context: StageContext) -> "StageResult":
    """The answer as the run's text, or a problem if there is none."""
    from pydantic_core import from_json

    from outlast.base.ids import new_id
    from outlast.kernel.agents.hooks import StageResult
    from outlast.kernel.threads.parts import TextPart

    if context.answer is None:
        return StageResult(problems=(MISSING,))
    part = TextPart(id=new_id("part"), text=context.answer)
    return StageResult(parts=(part,), facts={"output": from_json(context.answer)})
