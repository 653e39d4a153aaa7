"""The rules of services as pure decisions: valid declarations, and restarts after an end.

stopped → starting → healthy; a service that ends is restarted, with a longer delay each time; one that never becomes
healthy is given up as failed, until its sandbox starts again or it is declared again.
"""

import re
from collections.abc import Sequence
from typing import Final

from outlast.base.errors import MalformedInput
from outlast.base.records import dataclass

NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
PATH: Final = re.compile(r"/[\x21-\x7e]{0,499}")
MIN_PORT: Final = 1024  # the lowest port that programs in a sandbox may listen on
COMMAND_CHARS: Final = 4_000
MAX_SERVICES: Final = 10
# More than the 170 s that `templates.py` gives the installation before it.
START_S: Final = 180.0  # the longest time until a service answers
STEADY_S: Final = 30.0  # after being healthy for this long, its restarts are counted from zero
DELAYS_S: Final = (1.0, 2.0, 4.0, 8.0, 16.0)  # before each restart
MAX_FAILURES: Final = 6
CHECK_EVERY_S: Final = 30.0  # of a healthy service
MAX_MISSED: Final = 3  # most missed checks in a row of a healthy service


@dataclass(frozen=True, slots=True)
class Declared:
    """The declaration of a service. An empty `health_path` means that a connection to the port is enough."""

    name: str
    command: str
    port: int
    health_path: str = ""


@dataclass(frozen=True, slots=True)
class Restart:
    """Restart it after this delay; `failures` in a row so far."""

    delay_s: float
    failures: int


def checked(wanted: Declared, others: Sequence[Declared]) -> Declared:
    """The declaration, if it is valid in combination with the workspace's others. Raises `MalformedInput` naming the
    field."""
    if not NAME.fullmatch(wanted.name):
        _refuse("name", "1 to 40 lower-case letters, digits and hyphens, without a hyphen at either end")
    if not wanted.command.strip() or len(wanted.command) > COMMAND_CHARS or "\0" in wanted.command:
        _refuse("command", f"a shell command of at most {COMMAND_CHARS} characters")
    if not MIN_PORT <= wanted.port <= 65_535:
        _refuse("port", f"a number from {MIN_PORT} to 65535; sandboxes cannot listen on lower ports")
    if wanted.health_path and not PATH.fullmatch(wanted.health_path):
        _refuse("health_path", "empty, or a path that begins with / and has no spaces")
    for other in others:
        if other.port == wanted.port and other.name != wanted.name:
            _refuse("port", f"unique; {other.name} uses {other.port}")
    if len([other for other in others if other.name != wanted.name]) >= MAX_SERVICES:
        _refuse("name", f"one of the {MAX_SERVICES} services that a workspace may have; remove one first")
    return wanted


def after_end(failures: int, healthy_s: float) -> Restart | None:
    """The restart of a service that ended by itself after it was healthy for `healthy_s`, or None if it is failed until
    it is declared again. `failures`: earlier ends in a row that came too early."""
    if healthy_s >= STEADY_S:
        return Restart(DELAYS_S[0], 0)
    if failures + 1 >= MAX_FAILURES:
        return None
    return Restart(DELAYS_S[min(failures, len(DELAYS_S) - 1)], failures + 1)


def must_restart(before: Declared, state: str, wanted: Declared) -> bool:
    """True if a declaration restarts the service; a repeated one leaves a running service unchanged."""
    return before != wanted or state == "failed"


def how_it_ended(exit_code: int | None, answered: bool) -> str:
    """The end as a text for people; `exit_code` is None if the process was ended because it did not answer."""
    if exit_code is None and answered:
        return "It stopped answering."
    if exit_code is None:
        return f"It did not answer within {START_S:.0f} s."
    return f"It ended with exit code {exit_code}."


def _refuse(field: str, expected: str) -> None:
    raise MalformedInput(f"A service's {field} must be {expected}.", field=field)
