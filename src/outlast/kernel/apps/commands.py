"""Commands of the apps, found without loading the apps themselves: a command line starts in a fraction of the time."""

from collections.abc import Iterable, Iterator
from importlib import import_module

from outlast.kernel.apps.claims import KERNEL, Claims
from outlast.kernel.cli.command_group import CommandGroup


def app_commands(packages: Iterable[str], of_kernel: Iterable[str]) -> Iterator[CommandGroup]:
    """The groups of commands: `COMMANDS` of each package, where it has some. Raises `StartRefused` for a name that two
    declare."""
    claims = Claims()
    for name in of_kernel:
        claims.take("command", name, KERNEL)
    for package in packages:
        for group in getattr(import_module(package), "COMMANDS", ()):
            claims.take("command", group.name, package)
            yield group
