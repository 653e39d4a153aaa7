"""Names that only one app may declare."""

from typing import Final

from outlast.base.errors import StartRefused

KERNEL: Final = "the kernel"


class DeclaredNames:
    """Owners of declared names. `what` is the kind of thing in words ("table", "route"), `name` its name."""

    def __init__(self) -> None:
        self._owners: dict[tuple[str, str], str] = {}

    def take(self, what: str, name: str, owner: str) -> None:
        """Record that `owner` declares it. Raises `StartRefused` with both owners if it is taken, also by `owner`."""
        other = self._owners.get((what, name))
        if other is not None:
            raise taken(what, name, other, owner)
        self._owners[what, name] = owner


def taken(what: str, name: str, first: str, second: str) -> StartRefused:
    """The refusal of a name that two owners declare."""
    return StartRefused(
        f"The {what} {name!r} is declared by {first} and by {second}.",
        hint="Rename it in one of the two, or remove that app from APPS.",
    )
