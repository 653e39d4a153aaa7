"""`ask_user`: a structured question to the user; the run waits for the answer as it waits for an approval."""

from typing import Annotated

from pydantic import AfterValidator, Field

from outlast.base.errors import InternalError
from outlast.kernel.agents.arguments import Arguments
from outlast.kernel.agents.tool import tool


class Question(Arguments):
    id: str = Field(min_length=1, max_length=60)
    question: str = Field(min_length=1, max_length=2_000)
    options: list[str] = Field(default_factory=list, max_length=20, description="Choices; leave empty for a free text.")
    multiple: bool = Field(False, description="More than one option may be chosen.")
    placeholder: str = Field("", max_length=200)


def _require_different_ids(questions: list[Question]) -> list[Question]:
    if len({question.id for question in questions}) != len(questions):
        raise ValueError("the ids of the questions must differ")
    return questions


@tool(asks_person=True, repeatable=True)
async def ask_user(
    questions: Annotated[list[Question], Field(min_length=1, max_length=10), AfterValidator(_require_different_ids)],
) -> str:
    """Ask the person one or more questions and wait for the answers."""
    raise InternalError("A question is answered by a user and never executed.")
