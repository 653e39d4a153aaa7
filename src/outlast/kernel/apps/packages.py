"""The packages of this program's apps, and their commands. The apps are not loaded for this, so that commands start
fast."""

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module

from outlast.base.errors import InternalError
from outlast.kernel.apps.declared_names import KERNEL, DeclaredNames
from outlast.kernel.cli.command_group import CommandGroup

_declared: tuple[str, ...] | None = None


def declare(packages: Sequence[str]) -> None:
    """Declare the packages of the apps. A second call replaces them."""
    global _declared
    _declared = tuple(packages)


def declared_packages() -> tuple[str, ...]:
    """The declared packages. Raises `InternalError` before `declare`: without its apps a server would collect the blobs
    that their tables name."""
    if _declared is None:
        raise InternalError("The apps were used before the program declared them.")
    return _declared


def app_commands(packages: Iterable[str], of_kernel: Iterable[str]) -> Iterator[CommandGroup]:
    """The groups of commands: `COMMANDS` of each package that has some. Raises `StartRefused` for a name that is
    declared twice."""
    owners = DeclaredNames()
    for name in of_kernel:
        owners.take("command", name, KERNEL)
    for package in packages:
        for group in getattr(import_module(package), "COMMANDS", ()):
            owners.take("command", group.name, package)
            yield group
