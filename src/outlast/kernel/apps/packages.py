"""Which packages are the apps of this program, and their commands. The apps are not loaded for that: a command line
starts in a fraction of the time."""

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module

from outlast.base.errors import InternalError
from outlast.kernel.apps.claims import KERNEL, Claims
from outlast.kernel.cli.command_group import CommandGroup

_declared: tuple[str, ...] | None = None


def declare(packages: Sequence[str]) -> None:
    """Say which packages are the apps. A second call replaces them."""
    global _declared
    _declared = tuple(packages)


def declared_packages() -> tuple[str, ...]:
    """Raises `InternalError` before `declare`: without its apps a server would collect the blobs that their tables
    name."""
    if _declared is None:
        raise InternalError("The apps were asked for before the program declared them.")
    return _declared


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
