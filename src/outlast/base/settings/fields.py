"""Fields of the tables of settings: a setting with its description, and addresses that hide their password."""

from collections.abc import Mapping
from dataclasses import MISSING, field
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

DOTS = "••••••"


class SecretUrl(str):
    """An address that may contain a password: works as text, but prints the password as dots."""

    __slots__ = ()

    def reveal(self) -> str:
        """The full address, for the library that connects to it."""
        return str.__str__(self)

    def __str__(self) -> str:
        plain = str.__str__(self)
        try:
            password = urlsplit(plain).password
        except ValueError:
            return DOTS
        return plain.replace(f":{password}@", f":{DOTS}@") if password else plain

    def __repr__(self) -> str:
        return repr(str(self))

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __getnewargs__(self) -> tuple[str]:
        return (self.reveal(),)


def setting(
    sentence: str,
    default: Any = MISSING,
    *,
    unit: str = "",
    least: float | None = None,
    most: float | None = None,
    factory: Any = MISSING,
    env: str = "",
    beside: bool = False,
) -> Any:
    """One setting of a table: `least` and `most` are inclusive bounds, `env` a second, shorter environment variable.
    `beside`: the path of a folder, which is relative to the configuration file if it stands there."""
    metadata = MappingProxyType(
        {"sentence": sentence, "unit": unit, "least": least, "most": most, "env": env, "beside": beside}
    )
    options: dict[str, Any] = {"default": default, "default_factory": factory}
    return field(metadata=metadata, **options)


def no_entries() -> Mapping[str, Any]:
    """The default of a table whose keys are free."""
    return MappingProxyType({})
