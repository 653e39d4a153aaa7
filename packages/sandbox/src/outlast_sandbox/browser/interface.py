"""The result of looking at a page: a picture, the errors in it, or why there is none."""

from dataclasses import dataclass
from typing import Protocol

from outlast_sandbox.interface import Sandbox


@dataclass(frozen=True, slots=True)
class Look:
    """A page as it was seen.

    `picture`: PNG of the asked size; or None if none was taken; then `note` is the reason for a user. `errors`:
    uncaught exceptions, own resources that could not be loaded, the error page of the dev server, no response or a
    timeout. `console`: console messages of level error. Each has at most 20 texts of at most 2,000 characters, oldest
    first. `status`: HTTP status of the page, None if there was no response (`errors` says so too). `duration_s`: how
    long it took.
    """

    picture: bytes | None
    errors: tuple[str, ...]
    status: int | None
    note: str = ""
    duration_s: float = 0.0
    console: tuple[str, ...] = ()


class Photographer(Protocol):
    """Looks at pages inside sandboxes."""

    async def look(self, sandbox: Sandbox, port: int, path: str, width: int, height: int) -> Look:
        """Open `http://localhost:PORT/PATH` of that sandbox in a window of `width` times `height` CSS pixels (100 to
        4,000 each), wait until the page has settled (a few seconds at most) and take a picture. Takes about a minute at
        most; a page that never settles is an error of the page, not of the call.

        Raises only `SandboxLost`, when the sandbox is gone. Idempotent; a cancelled call leaves nothing behind.
        """
