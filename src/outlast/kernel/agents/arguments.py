"""The arguments of tools as Pydantic models. A tool makes its model at the first use, so that a program that only
defines agents does not load Pydantic."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from outlast.base.errors import ArgumentsInvalid


class Arguments(BaseModel):
    """An object among a tool's arguments. Unknown fields are refused."""

    model_config = ConfigDict(defer_build=True, extra="forbid")


class Message(Arguments):
    """The arguments of a tool that calls an agent."""

    message: str = Field(min_length=1, description="All that it needs to know: it does not read this conversation.")


class Reason(Arguments):
    """The arguments of a tool that hands the conversation over to an agent."""

    reason: str = Field(
        min_length=1,
        max_length=2_000,
        description="What the next agent should know, in a few sentences. The person sees it too.",
    )


def arguments_model(tool: str, fields: Mapping[str, Any]) -> type[Arguments]:
    """A model of these fields: each a type, or a type and a default."""
    return create_model(tool, __base__=Arguments, **fields)


def validated(tool: str, model: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the model's types. Raises `ArgumentsInvalid` with the first field that is wrong."""
    try:
        asked = model.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(at) for at in first["loc"]) or "arguments"
        raise ArgumentsInvalid(
            f"The arguments of {tool} are not valid: {field}: {first['msg']}.", field=field, tool=tool
        ) from None
    return {name: getattr(asked, name) for name in type(asked).model_fields}
