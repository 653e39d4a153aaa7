"""What `outlast` tells the shell."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes, the same for every command."""

    OK = 0  # done; a followed run completed
    FAILED = 1  # a followed run ended in an error, or a check found something wrong
    REFUSED_TO_START = 2  # bad usage, a bad setting, or the server will not start like this
    REFUSED = 3  # the server refused the request; the message says why
    UNREACHABLE = 4  # no server answers at the address
    CANCELLED = 5  # the followed run was cancelled
    WAITING = 6  # the followed run waits for a person, and nobody is at the terminal to answer
    INTERRUPTED = 130  # Ctrl+C; a followed run goes on without you


MEANINGS = {
    Exit.OK: "Done. A followed run completed.",
    Exit.FAILED: "A followed run ended in an error, or a check found something wrong.",
    Exit.REFUSED_TO_START: "Bad usage, a bad setting, or the server will not start like this.",
    Exit.REFUSED: "The server refused the request; the message says why.",
    Exit.UNREACHABLE: "No server answers at the address.",
    Exit.CANCELLED: "The followed run was cancelled.",
    Exit.WAITING: "The followed run waits for a person, and nobody is at the terminal to answer.",
    Exit.INTERRUPTED: "Ctrl+C. A followed run goes on without you.",
}


class Unreachable(Exception):
    """No server answers."""
