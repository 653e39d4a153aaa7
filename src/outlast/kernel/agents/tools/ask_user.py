"""`ask_user`: a structured question to the person; the run waits for the answer as it waits for an approval."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, model_validator

from outlast.base.errors import InternalError
from outlast.kernel.agents.tools.base import Arguments, ToolBase
from outlast.kernel.runs.profile import ToolContext, ToolResult


class Question(Arguments):
    id: str = Field(min_length=1, max_length=60)
    question: str = Field(min_length=1, max_length=2_000)
    options: list[str] = Field(default_factory=list, max_length=20, description="Choices; none: a free text.")
    multiple: bool = Field(False, description="More than one option may be chosen.")
    placeholder: str = Field("", max_length=200)


class QuestionArguments(Arguments):
    questions: list[Question] = Field(min_length=1, max_length=10)

    @model_validator(mode="after")
    def _ids_differ(self) -> "QuestionArguments":
        if len({question.id for question in self.questions}) != len(self.questions):
            raise ValueError("the ids of the questions must differ")
        return self


class AskUser(ToolBase):
    name: ClassVar[str] = "ask_user"
    description: ClassVar[str] = "Ask the person one or more questions and wait for the answers."
    arguments: ClassVar[type[Arguments]] = QuestionArguments
    asks_person: ClassVar[bool] = True
    repeatable: ClassVar[bool] = True

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        raise InternalError("A question is answered by a person, never carried out.")
