"""Commands of the apps, found without loading the apps themselves: a command line starts in a fraction of the time."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec

import typer

from outlast.kernel.apps.claims import KERNEL, Claims


def app_commands(packages: Iterable[str], of_kernel: Iterable[str]) -> Iterator[tuple[str, typer.Typer]]:
    """The groups of commands by name: `COMMANDS` of each package's module `commands`, where it has one. Raises
    `StartRefused` for a name that two declare."""
    claims = Claims()
    for name in of_kernel:
        claims.take("command", name, KERNEL)
    for package in packages:
        if find_spec(f"{package}.commands") is None:
            continue
        for name, commands in import_module(f"{package}.commands").COMMANDS.items():
            claims.take("command", name, package)
            yield name, commands
