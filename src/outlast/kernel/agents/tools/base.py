"""What all tools share: arguments as a Pydantic model, which gives the schema and the check."""

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from outlast.base.errors import ArgumentsInvalid
from outlast.kernel.models.protocol import ToolSpec
from outlast.kernel.runs.profile import ToolContext


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


@cache
def _spec(name: str, description: str, arguments: type[Arguments]) -> ToolSpec:
    """Made once: Pydantic takes a millisecond for a schema, and each request to a model names every tool."""
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    return ToolSpec(name, description, schema)


class ToolBase:
    """A tool without effects beyond `run`: nothing to stop, nothing to forget."""

    name: ClassVar[str]
    description: ClassVar[str]
    arguments: ClassVar[type[Arguments]]
    asks_person: ClassVar[bool] = False
    repeatable: ClassVar[bool] = False
    changes_files: ClassVar[bool] = False  # a checkpoint is taken after each call

    def spec(self) -> ToolSpec:
        return _spec(self.name, self.description, self.arguments)

    def check(self, arguments: Mapping[str, Any]) -> None:
        try:
            self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(at) for at in first["loc"]) or "arguments"
            raise ArgumentsInvalid(
                f"The arguments of {self.name} are not valid: {field}: {first['msg']}.",
                field=field,
                tool=self.name,
            ) from None

    async def stop(self, context: ToolContext) -> None:
        """Nothing goes on after `run`."""

    async def forget(self, context: ToolContext) -> None:
        """Nothing is kept."""
