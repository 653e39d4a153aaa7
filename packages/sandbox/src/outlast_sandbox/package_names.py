"""Package names in snapshot recipes: `npm:NAME@VERSION`, `pypi:NAME==VERSION`, or a bare npm name. Pure."""

import re
from typing import Final

NPM: Final = "npm:"
PYPI: Final = "pypi:"
MAX_CHARS: Final = 1_000
HOW: Final = "npm:NAME@VERSION, pypi:NAME==VERSION, or a bare npm name"
_NPM_PACKAGE: Final = re.compile(r"((?:@[a-z0-9~-][\w.~-]*/)?[a-z0-9~][\w.~-]*)(?:@([\w.^~*<>=|+ -]+))?", re.IGNORECASE)
_PYPI_PACKAGE: Final = re.compile(r"([A-Za-z0-9][\w.-]*)(\[[\w., -]+\])?\s*((?:[=<>!~]=?=?[^\s;@]+)?)")


class NotAPackage(ValueError):
    """The text is not a package name; the message gives the valid forms."""


def parse_package(text: str) -> str:
    """The package in its normal form, with its kind in front; the version is optional. Raises `NotAPackage`, also for
    more than `MAX_CHARS`."""
    if len(text) > MAX_CHARS:
        raise NotAPackage(HOW)
    plain = text.strip()
    if plain.startswith(PYPI):
        return PYPI + _pypi(plain.removeprefix(PYPI))
    match = _NPM_PACKAGE.fullmatch(plain.removeprefix(NPM))
    if match is None:
        raise NotAPackage(HOW)
    return NPM + match[1] + (f"@{match[2].strip()}" if match[2] else "")


def name_of(package: str) -> str:
    """A parsed package without its version, as `npm:NAME` or `pypi:NAME`."""
    if package.startswith(PYPI):
        return re.split(r"[\[=<>!~]", package, maxsplit=1)[0]
    name = package.removeprefix(NPM)
    return NPM + name[0] + name[1:].partition("@")[0]


def _pypi(text: str) -> str:
    match = _PYPI_PACKAGE.fullmatch(text.strip())
    if match is None:
        raise NotAPackage(HOW)
    name = re.sub(r"[-_.]+", "-", match[1]).lower()
    return f"{name}{(match[2] or '').replace(' ', '')}{match[3]}"
