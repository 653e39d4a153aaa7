"""Tools of agents: a function with a description, made into a tool by `@tool`."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, get_type_hints, overload

from outlast.kernel.agents.context import Context
from outlast.kernel.agents.images import Image
from outlast.kernel.agents.sources import Source

if TYPE_CHECKING:  # `from outlast import tool` loads no Pydantic; the functions below load it when a run works
    from pydantic import BaseModel

    from outlast.kernel.models.protocol import ToolSpec
    from outlast.kernel.sandboxes.shapes import FileChange
    from outlast.kernel.threads.parts import Part

MAX_NAME_CHARS: Final = 80  # what the tables take
MakeModel = Callable[[], "type[BaseModel]"]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool, if a text is not enough.

    `content` is the text for the model, `is_error` is true if the call failed, `files` are its changes in the
    workspace. `parts` are shown to people after the call (their `step` is set), recorded together with the result.
    `interrupted`: an earlier attempt had started the call, and it could be neither re-attached nor repeated. `notes`
    reach the model with the results of the step, in separate messages. `images` are seen by the model, and by people
    with the call; at most four. `sources` are shown to people as links with the call.
    """

    content: str
    is_error: bool = False
    files: "tuple[FileChange, ...]" = ()
    parts: "tuple[Part, ...]" = ()
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    images: tuple[Image, ...] = ()
    sources: tuple[Source, ...] = ()


class Tool:
    """A function that an agent can call; made by `tool`, which documents the fields. `arguments` makes the model of its
    arguments, at the first use."""

    def __init__(
        self,
        name: str,
        description: str,
        arguments: MakeModel,
        call: Callable[[Context, Mapping[str, Any]], Awaitable[Any]],
        *,
        ask: str = "",
        asks_person: bool = False,
        repeatable: bool = False,
        reattaches: bool = False,
        changes_files: bool = False,
        check: Callable[..., None] | None = None,
        code: CodeType | None = None,
        takes_context: bool = False,
    ) -> None:
        self.name, self.ask, self.asks_person = name, ask, asks_person
        self.repeatable, self.reattaches, self.changes_files = repeatable, reattaches, changes_files
        self._description, self._make_model, self._call, self._check = description, arguments, call, check
        self._code, self.takes_context = code, takes_context

    @property
    def place(self) -> tuple[str, int] | None:
        """The file and line of its function. None if it is not made from a function."""
        return None if self._code is None else (self._code.co_filename, self._code.co_firstlineno)

    @cached_property
    def arguments(self) -> "type[BaseModel]":
        """The model of its arguments."""
        return self._make_model()

    @cached_property
    def spec(self) -> "ToolSpec":
        """The tool as described to a model. Made at the first request, because Pydantic takes a millisecond for a
        schema. Raises what Pydantic raises for a type that has no JSON Schema."""
        from outlast.kernel.models.protocol import ToolSpec

        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        return ToolSpec(self.name, self._description, schema)

    @cached_property
    def version(self) -> str | None:
        """A name for its code, its text and its arguments: another one if any of them was changed, except in functions
        that it calls. None if it is not made from a function."""
        from hashlib import sha256

        if self._code is None:
            return None
        return sha256(repr((_content(self._code), self.spec)).encode()).hexdigest()

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise `ArgumentsInvalid` naming the field that is wrong."""
        values = self._validated(arguments)
        if self._check is not None:
            self._check(**values)

    async def run(self, context: Context, arguments: Mapping[str, Any]) -> ToolResult:
        """Run it. An `OutlastError` becomes an error result that the model reads; of any other exception the model
        reads only the type."""
        from pydantic_core import to_json

        returned = await self._call(context, self._validated(arguments))
        if isinstance(returned, ToolResult):
            return returned
        images = _images_in(returned)
        if images:
            return ToolResult("\n".join(f"[image: {image.alt or 'no description'}]" for image in images), images=images)
        return ToolResult(returned if isinstance(returned, str) else to_json(returned).decode())

    def _validated(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        from outlast.kernel.agents.arguments import validated

        return validated(self.name, self.arguments, arguments)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str = "",
    ask: str = "",
    asks_person: bool = False,
    repeatable: bool = False,
    reattaches: bool = False,
    changes_files: bool = False,
    check: Callable[..., None] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Tool | Callable[..., Tool]:
    """Make a function a tool of agents.

        @tool(ask="Refunds need a person")
        async def refund(ctx: Context, order_id: str, cents: Annotated[int, Field(gt=0)]) -> str:
            '''Pay money back to a buyer.'''
            return await shop.refund(order_id, cents, idempotency_key=ctx.effect_id)

    The tool's name is the function's (at most 80 characters), the text for the model its docstring, and the arguments
    are its parameters with their types, defaults and bounds (`Annotated[…, Field(…)]` of Pydantic). A first parameter
    of the type `Context` is not shown to the model. An `async def` runs on the event loop and must not block it; a
    `def` runs in a thread. The model reads its return value: a text unchanged, the content of a `ToolResult`, an
    `Image` (or a list of them) as an image, anything else as JSON. The model also reads its errors: the message of an
    `OutlastError`, the type of any other.

    `name`: replaces the function's name. `ask`: a user decides on each call and sees this reason, unless a
    `[[policy]]` of the configuration overrides it. `asks_person`: the call is a question, which a user answers; the
    function is never called. `repeatable`: calling it again with the same arguments does no harm, so a call that a
    stopped server cut off is made again; `reattaches`: it is called again with `ctx.reattach` and looks for its
    earlier work. Without both the model reads that the call was interrupted. `changes_files`: a checkpoint of the
    workspace is taken after each call. `check`: called with the arguments before a user decides on the call; raises
    `ArgumentsInvalid`.

    Raises `TypeError` for a function without a docstring, or with parameters that have no type or cannot be named. A
    type that Pydantic does not know is found later: when a server loads the agent, or at the tool's first use.
    """
    return partial(_tool_of, **options) if function is None else _tool_of(function)


def _tool_of(function: Callable[..., Any], name: str = "", **options: Any) -> Tool:
    name = name or function.__name__
    description = _text_in(function)
    if not description or len(name) > MAX_NAME_CHARS:
        raise TypeError(f"The tool {name} needs a docstring, and a name of at most {MAX_NAME_CHARS} characters.")
    fields, takes_context = _fields_of(name, function)
    code = getattr(function, "__code__", None)
    call = _call_of(function, takes_context)
    options |= {"code": code, "takes_context": takes_context}
    return Tool(name, description, partial(_model_of, name, fields), call, **options)


def _model_of(name: str, fields: Mapping[str, Any]) -> "type[BaseModel]":
    from outlast.kernel.agents.arguments import arguments_model

    return arguments_model(name, fields)


def _images_in(returned: Any) -> tuple[Image, ...]:
    """The images, if it is one or a list of them."""
    found = tuple(returned) if isinstance(returned, list | tuple) else (returned,)
    return found if all(isinstance(one, Image) for one in found) else ()


def _content(code: CodeType) -> tuple[Any, ...]:
    """What a function does, without where it stands in its file."""
    constants = [
        _content(one)
        if isinstance(one, CodeType)
        else sorted(map(repr, one))
        if isinstance(one, frozenset)
        else repr(one)
        for one in code.co_consts
    ]  # a set is sorted: its order differs from process to process
    return code.co_code, constants, code.co_names, code.co_varnames


def _call_of(
    function: Callable[..., Any], takes_context: bool
) -> Callable[[Context, Mapping[str, Any]], Awaitable[Any]]:
    is_async = inspect.iscoroutinefunction(function)

    async def call(context: Context, values: Mapping[str, Any]) -> Any:
        bound = partial(function, *([context] if takes_context else ()), **values)
        return await (bound() if is_async else _in_thread(bound))

    return call


async def _in_thread(function: Callable[[], Any]) -> Any:
    from anyio import to_thread

    return await to_thread.run_sync(function)


def _fields_of(name: str, function: Callable[..., Any]) -> tuple[dict[str, Any], bool]:
    """The function's parameters as the fields of a model, and whether it takes a context before them."""
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())
    takes_context = bool(parameters) and hints.get(parameters[0].name) is Context
    fields: dict[str, Any] = {}
    for one in parameters[1:] if takes_context else parameters:
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise TypeError(f"The parameter {one.name} of the tool {name} has no name that a model could give it by.")
        if one.name not in hints:
            raise TypeError(
                f"The parameter {one.name} of the tool {name} has no type. Write, for example, `{one.name}: str`."
            )
        if one.name.startswith("_"):  # Pydantic would leave it out
            raise TypeError(f"The parameter {one.name} of the tool {name} needs a name that does not begin with _.")
        hint = hints[one.name]
        fields[one.name] = hint if one.default is one.empty else (hint, one.default)
    return fields, takes_context


def _text_in(function: Callable[..., Any]) -> str:
    """The docstring, each paragraph on one line; lists keep their lines."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(one if "\n- " in f"\n{one}" else " ".join(one.split()) for one in paragraphs).strip()
