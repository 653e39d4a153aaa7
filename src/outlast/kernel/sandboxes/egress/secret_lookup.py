"""Opens the look-up of secrets that an operator chose by its name."""

from collections.abc import Mapping
from typing import Final

from outlast.base.errors import InvalidSetting, StartRefused
from outlast.base.plugins import plugins
from outlast_sandbox.egress.secrets import OperatorSecrets, SecretLookup

GROUP: Final = "outlast.secret_lookups"


def open_lookup(name: str, environment: Mapping[str, str] | None = None) -> SecretLookup:
    """The look-up of that name: an async function of another package, an entry point of the group
    `outlast.secret_lookups` (see `SecretLookup`). An empty name means the server's environment variables
    (`environment`, or the process's own if None). Raises `InvalidSetting` for an unknown name, `StartRefused` if it
    cannot be loaded."""
    if not name:
        return OperatorSecrets(environment)
    found = {entry.name: entry for entry in plugins(GROUP)}
    entry = found.get(name)
    if entry is None:
        listed = ", ".join(sorted(found)) or "none"
        raise InvalidSetting(
            f"sandbox.secret_lookup: there is no look-up {name!r}; installed are: {listed}.",
            hint=f"Choose one of them, or install the package that has it (entry point group {GROUP}).",
            setting="sandbox.secret_lookup",
            expected=listed,
        )
    try:
        lookup: SecretLookup = entry.load()
    except Exception as error:  # any code of another package may run here
        raise StartRefused(
            f"The secret look-up {name!r} cannot be loaded: {error}",
            hint=f"Install or repair its package, or choose another; it names {entry.value}.",
            setting="sandbox.secret_lookup",
        ) from error
    return lookup
