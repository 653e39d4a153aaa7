"""The exit codes of `outlast`."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes, the same for every command; `MEANINGS` explains them."""

    OK = 0
    FAILED = 1
    REFUSED_TO_START = 2
    REFUSED = 3
    UNREACHABLE = 4
    CANCELLED = 5
    WAITING = 6
    INTERRUPTED = 130


MEANINGS = {
    Exit.OK: "Success. A followed run completed.",
    Exit.FAILED: "A followed run failed, a check found a problem, or the server is not ready.",
    Exit.REFUSED_TO_START: "Wrong usage, an invalid setting, or the server cannot start.",
    Exit.REFUSED: "The server refused the request. The message says why.",
    Exit.UNREACHABLE: "No server answers at the address.",
    Exit.CANCELLED: "The followed run was cancelled, or you answered no.",
    Exit.WAITING: "The followed run needs a person, and there is no interactive terminal.",
    Exit.INTERRUPTED: "Interrupted with Ctrl+C. A followed run continues on the server.",
}


class Unreachable(Exception):
    """No server answers at this address."""
