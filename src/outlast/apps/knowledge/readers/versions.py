"""The version of a package that a request names, among those in an index. Pure.

Only for documentation read before the package is installed: an installed package knows its version. Ranges are read
like npm and pip read their usual forms; for anything else the newest version is taken.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Final

Numbers = tuple[int, ...]
_COMPARE: Final[Mapping[str, Callable[[Numbers, Numbers], bool]]] = {">=": ge, "<=": le, ">": gt, "<": lt}
_NUMBERS: Final = re.compile(r"\d+")
_PRE: Final = re.compile(r"(?:a|b|c|rc|alpha|beta|dev|pre)[.\d]*", re.IGNORECASE)
_WHEEL: Final = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)-.+\.whl\Z")
_CLAUSE: Final = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*([\w.*+!-]+)")


def best_npm(asked: str, versions: Sequence[str], tags: Mapping[str, str]) -> str:
    """The best version, or "" if there is none."""
    if asked in versions:
        return asked
    if not asked or asked in tags:
        latest = tags.get(asked or "latest", "")
        return latest if latest in versions or not versions else max(versions, key=_order)
    fitting = [one for one in versions if "-" not in one and _fits_npm(asked, one)]
    return max(fitting, key=_order, default="")


def best_pypi(asked: str, files: Mapping[str, str]) -> tuple[str, str] | None:
    """(version, address) of the wheel to read, or None if there is none."""
    found: dict[str, str] = {}
    for name, address in files.items():
        match = _WHEEL.match(name)
        if match is not None and (match["version"] not in found or "none-any" in name):
            found[match["version"]] = address
    clauses = _CLAUSE.findall(asked)
    fitting = [one for one in found if all(_fits(operator, limit, one) for operator, limit in clauses)]
    finished = [one for one in fitting if not _PRE.search(one)]
    chosen = max(finished or fitting, key=_order, default=None)
    return None if chosen is None else (chosen, found[chosen])


def _fits_npm(asked: str, version: str) -> bool:
    numbers = _order(version)
    return any(all(_fits_one(part, numbers) for part in option.split()) for option in asked.split("||"))


def _fits_one(part: str, version: Numbers) -> bool:
    limit = _order(part)
    padded = (*limit, 0, 0, 0)[:3]
    if part.startswith("^"):
        significant = next((at for at, number in enumerate(limit) if number), len(limit) - 1)
        return version[: significant + 1] == padded[: significant + 1] and version >= padded
    if part.startswith("~"):
        return version[: min(2, len(limit))] == limit[:2] and version >= padded
    for operator, compare in _COMPARE.items():
        if part.startswith(operator):
            return compare(version, padded)
    return version[: len(limit)] == limit  # "1", "1.x", "*"


def _fits(operator: str, limit: str, version: str) -> bool:
    wanted, found = _order(limit), _order(version)
    if operator in ("==", "===", "!="):
        same = found[: len(wanted)] == wanted if limit.endswith("*") else _padded(found) == _padded(wanted)
        return same != (operator == "!=")
    if operator == "~=":
        return found[: len(wanted) - 1] == wanted[:-1] and _padded(found) >= _padded(wanted)
    return _COMPARE[operator](_padded(found), _padded(wanted))


def _order(version: str) -> Numbers:
    main = re.split(r"[-+]", version, maxsplit=1)[0]
    return tuple(int(number) for number in _NUMBERS.findall(_PRE.sub("", main)))


def _padded(numbers: Numbers) -> Numbers:
    return (*numbers, 0, 0, 0, 0, 0)[:5]
