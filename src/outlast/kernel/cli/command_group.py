"""The entry of a group of commands in `outlast --help`, before the group is imported."""

from importlib import import_module
from typing import Any, Final

from outlast.base.records import dataclass

# Headings of `outlast --help`.
WORK: Final = "Work"
CONNECTION: Final = "Connection"
SERVER: Final = "Server (on its machine)"


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """A noun or a single command. It is imported when it is called, so that help and completion stay fast. `module` has
    its `Commands` as `app`. `panel` is its heading in `outlast --help`; without a panel it is not listed."""

    name: str
    module: str
    help: str
    panel: str = ""

    def load(self) -> Any:
        """Import the command."""
        import typer.main

        group: Any = typer.main.get_command(import_module(self.module).app)
        command = group.commands.get(self.name)
        if command is None:
            command = group
            command.help = self.help
        return command
