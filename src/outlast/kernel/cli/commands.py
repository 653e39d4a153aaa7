"""The verbs of a noun: their declaration in `commands.py`, and the common behaviour of all commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar, get_args

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo

from outlast.kernel.cli.command_group import CommandGroup
from outlast.kernel.cli.options import ON_SERVER, SharedOptions
from outlast.kernel.cli.session import session_of

F = TypeVar("F", bound=Callable[..., None])
ESCAPED: Final = "\\["  # a literal bracket in Rich's markup


class _PlainHelp:
    """Shows `--help` as a flag, without a type."""

    def get_help_option(self, ctx: Any) -> Any:
        option: Any = super().get_help_option(ctx)  # type: ignore[misc]
        option.metavar = ""
        return option


class Verb(_PlainHelp, TyperCommand):
    """A command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as usual, with error messages in the terms of a command line."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = _plain(error.message)
            raise


class Noun(_PlainHelp, TyperGroup):
    """A group of commands."""


class LazyCommand(TyperGroup):
    """The entry in `outlast --help` of a group that is not loaded."""

    def __init__(self, group: CommandGroup) -> None:
        super().__init__(name=group.name, help=group.help, rich_help_panel=group.panel, hidden=not group.panel)
        self.declared = group

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """The context of the loaded command, which replaces this one."""
        return self.declared.load().make_context(*args, **extra)


class Commands(typer.Typer):
    """The verbs of a noun. `shared`: the options that each verb has in addition to its own."""

    def __init__(self, shared: SharedOptions = ON_SERVER) -> None:
        super().__init__(cls=Noun, no_args_is_help=True, rich_markup_mode="rich", add_completion=False)
        self._shared = shared
        self.callback()(_no_action)

    def verb(self, name: str, example: str, *aliases: str, shared: SharedOptions | None = None) -> Callable[[F], F]:
        """Add the decorated function as a command. Lists show the first sentence of its docstring; `example` is a whole
        command line; `aliases` are older spellings, which still work but are not listed; `shared` replaces the shared
        options of the noun."""
        options = self._shared if shared is None else shared

        def add(function: F) -> F:
            run = _with_options(function, options)
            epilog = f"[bold]Example[/bold]  {example.replace('[', ESCAPED)}"
            for number, spelling in enumerate((name, *aliases)):
                self.command(spelling, cls=Verb, epilog=epilog, hidden=number > 0)(run)
            return function

        return add


def _with_options(function: Callable[..., None], shared: SharedOptions) -> Callable[..., None]:
    """The function with shared options, which are put into the session while it runs."""
    own = inspect.signature(function, eval_str=True)
    parameters = [*own.parameters.values(), *shared]
    for one in parameters:
        _set_metavar(one)

    @wraps(function)
    def run(**given: Any) -> None:
        with session_of(**{one.name: given.pop(one.name) for one in shared}):
            function(**given)

    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _plain(message: str) -> str:
    """A validator's message without the validator's name: "The value must be a valid integer"."""
    message = message.removeprefix("Value error, ").split(", unable to parse", 1)[0]
    return message.replace("Input should be", "The value must be", 1)


def _set_metavar(parameter: inspect.Parameter) -> None:
    """Set the placeholder of the value in help: nothing for a flag, NAME for an argument."""
    kind, declared = get_args(parameter.annotation) or (None, None)
    if kind is bool:
        declared.metavar = ""
    elif isinstance(declared, ArgumentInfo) and not declared.metavar:
        declared.metavar = parameter.name.upper().replace("_", "-")


def _no_action() -> None:
    """Turns a single command into a group, too."""
