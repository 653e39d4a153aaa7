"""Helpers for rules about settings. A table may have a method `check(where)`, which calls these."""

import re
from collections.abc import Callable
from typing import Final, NoReturn

from outlast.base.errors import InvalidSetting
from outlast_sandbox.host_patterns import NotAHost

Where = Callable[[str], str]  # a setting's dotted name → where it was read ("outlast.toml:12", "default")
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def check_address(name: str, url: str, where: Where) -> None:
    """Refuse an address that is not HTTP or HTTPS; empty is fine."""
    if url and not url.startswith(("http://", "https://")):
        refuse(name, "an address that begins with http:// or https://", url, where)


def check_service(table: str, url: str, api_key_env: str, where: Where) -> None:
    """Refuse an invalid address of a service, or an invalid name for the variable of its key."""
    check_address(f"{table}.url", url, where)
    if api_key_env and not VARIABLE.match(api_key_env):
        # It may be the key itself, so the message does not show it.
        refuse(f"{table}.api_key_env", "the name of an environment variable", "other text", where, quoted=False)


def check_each(name: str, texts: tuple[str, ...], parse: Callable[[str], object], where: Where) -> None:
    """Refuse the first text that `parse` does not accept."""
    for text in texts:
        try:
            parse(text)
        except NotAHost as error:
            refuse(name, str(error), text, where)


def refuse(name: str, expected: str, found: str, where: Where, *, quoted: bool = True) -> NoReturn:
    """Raise `InvalidSetting`. The message shows `found`; for a secret, pass a description instead (`quoted` false)."""
    raise refusal(name, expected, repr(found) if quoted else found, where(name))


def refusal(name: str, expected: str, found: str, where: str) -> InvalidSetting:
    """The error of an invalid setting, with the place where it was read."""
    return InvalidSetting(
        f"{name}: expected {expected}, found {found} ({where}).",
        hint="Correct the setting and start again; docs/reference/configuration.md lists all of them.",
        setting=name,
        expected=expected,
        read_from=where,
    )
