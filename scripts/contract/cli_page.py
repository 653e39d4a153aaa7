"""docs/reference/cli.md, from the commands."""

from collections.abc import Iterator
from typing import Any

from outlast.kernel.cli.exits import MEANINGS
from outlast.kernel.cli.options import CONFIG, DATA_DIR, JSON, SERVER, TOKEN
from outlast.surfaces.cli.main import build_command
from scripts.contract.pages import code, heading, page, prose, table

INTRODUCTION = prose("cli")
SHARED = prose("cli_options")
COMPLETION = prose("cli_completion")
SHARED_NAMES = frozenset(option.name for option in (JSON, SERVER, TOKEN, CONFIG, DATA_DIR))


def write() -> str:
    """The page."""
    root = build_command()
    lines = heading("Command line", INTRODUCTION)
    lines += ["## Options of all commands", "", *SHARED.split("\n"), ""]
    lines += ["## Completion", "", *COMPLETION.split("\n"), "", "## Exit codes", ""]
    lines += table(("code", "meaning"), ((each.value, meaning) for each, meaning in MEANINGS.items()))
    for path, command in commands(root):
        lines += _section(path, command)
    return page(lines)


def commands(root: Any) -> Iterator[tuple[str, Any]]:
    """Every command that the help lists, with its full name."""
    for group in _visible(root):
        loaded = group.declared.load()
        if hasattr(loaded, "commands"):
            yield from ((f"outlast {group.name} {verb.name}", verb) for verb in _visible(loaded))
        else:
            yield f"outlast {group.name}", loaded


def _visible(group: Any) -> list[Any]:
    return [command for command in group.commands.values() if not command.hidden]


def _section(path: str, command: Any) -> list[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = " ".join([path, *map(_argument, arguments), "[OPTIONS]"])
    paragraphs = [" ".join(paragraph.split()) for paragraph in (command.help or "").split("\n\n")]
    example = command.epilog.split("  ", 1)[1].replace("\\[", "[")
    text = [line for paragraph in paragraphs for line in (paragraph, "")]
    shown = [one for one in command.params if one.name not in SHARED_NAMES | {"help"}]
    rows = table(("", "default", "meaning"), map(_row, shown)) if shown else []
    return [f"## `{path}`", "", *text, f"    {usage}", "", "For example:", "", f"    {example}", "", *rows]


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper().replace("_", "-")
    return name if parameter.required else f"[{name}]"


def _row(parameter: Any) -> tuple[str, str, str]:
    names = ", ".join(code(name) for name in [*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        names = code(parameter.metavar or parameter.name.upper().replace("_", "-"))
    default = parameter.default
    shown = "" if default in (None, "", False, True) or parameter.required or callable(default) else code(default)
    choices = getattr(parameter.type_descriptor, "choices", None)
    listed = f" One of {', '.join(map(code, choices))}." if choices else ""
    return names, shown, f"{parameter.help or ''}{listed}"
