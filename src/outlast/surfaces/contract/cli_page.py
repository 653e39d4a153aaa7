"""docs/reference/cli.md, from the commands."""

from collections.abc import Iterator
from typing import Any

import typer

from outlast.kernel.cli.exits import MEANINGS
from outlast.surfaces.cli.main import build_app
from outlast.surfaces.contract.pages import code, heading, page, prose, table

INTRODUCTION = prose("cli")


def write() -> str:
    """The page."""
    lines = heading("Command line", INTRODUCTION)
    lines += [
        "## Exit codes",
        "",
        *table(("code", "meaning"), ((each.value, told) for each, told in MEANINGS.items())),
    ]
    for path, command in _commands(typer.main.get_command(build_app(_nothing, _nothing)), "outlast"):
        arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
        usage = " ".join([path, *(str(argument.name).upper() for argument in arguments), "[OPTIONS]"])
        lines += [f"## `{path}`", "", " ".join((command.help or "").split()), "", f"    {usage}", ""]
        shown = [parameter for parameter in command.params if parameter.name != "help"]
        lines += table(("", "default", "meaning"), map(_row, shown))
    return page(lines)


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, each in inner.items():
        yield from _commands(each, f"{path} {name}")


def _row(parameter: Any) -> tuple[str, str, str]:
    names = ", ".join(code(name) for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        names = code(parameter.name.upper())
    default = parameter.default
    shown = "" if default in (None, "", False) or parameter.required or callable(default) else code(default)
    env = f" ({code(parameter.envvar)})" if getattr(parameter, "envvar", None) else ""
    return names, shown, f"{parameter.help or ''}{env}"


def _nothing(*_: Any) -> None:
    """No server is started for a page."""
