"""What looking at a page gives: a picture, the errors in it, or why there is none."""

from dataclasses import dataclass
from typing import Protocol

from outlast_sandbox.interface import Sandbox


@dataclass(frozen=True, slots=True)
class Look:
    """A page as it was seen.

    `picture`: PNG of the asked size; None: none was taken, and `note` says why in words for a person. `errors`: what
    went wrong in the page: what it threw and did not catch, what of its own could not be loaded, the error page of its
    dev server, no answer or no end. `console`: what it wrote to the console as an error. Of both at
    most 20 texts of at most 2,000 characters, oldest first. `status`: HTTP status of the page, None when nothing
    answered (`errors` says so too). `duration_s`: how long it took.
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
        4,000 each), wait until the page has settled (a few seconds at most) and look. Never longer than a minute
        or so; a page that does not come to an end is an error of the page, not of the call.

        Raises `SandboxLost` when the sandbox is gone, nothing else. May be repeated; a cancelled call leaves nothing
        behind.
        """
