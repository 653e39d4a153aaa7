"""Names and numbers as E2B's programs write them, and ours."""

import hashlib
import posixpath
import re
from typing import Final

from outlast.base.errors import MalformedInput, NotFound
from outlast.base.ids import KINDS

ENVD_PORT: Final = 49983
ENVD_VERSION: Final = "0.6.4"  # of envd, as implemented here; SDKs derive from it which features they use
SANDBOX_ID: Final = "e2b-sandbox-id"  # a header
MEBIBYTE: Final = 1024 * 1024
USER: Final = "user"
HOME: Final = "/home/user"
_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")
_SANDBOX: Final = re.compile(r"[0-9a-z]{26}")
_PREFIX: Final = f"{KINDS['workspace']}_"
MAX_PATH_BYTES: Final = 4096


def shown_id(workspace_id: str) -> str:
    """A sandbox's id as programs see it."""
    return workspace_id.removeprefix(_PREFIX)


def workspace_of(sandbox_id: str) -> str:
    """The workspace that a program means. Raises `NotFound` for what cannot be an id of ours."""
    bare = sandbox_id.split("-", 1)[0].lower()  # older SDKs append the id of the client
    if not _SANDBOX.fullmatch(bare):
        raise NotFound(f"The sandbox {sandbox_id[:60]} was not found.", noun="sandbox")
    return _PREFIX + bare


def traffic_token(access_token: str) -> str:
    """The token that opens the ports of the sandbox with this access token, and nothing else."""
    return "stt_" + hashlib.sha256(f"traffic:{access_token}".encode()).hexdigest()[:48]


def template_of(named: str) -> str:
    """What a template's name means to the actions: a snapshot that a program made, by its id, or a name as it is."""
    bare = named.split(":", 1)[0]  # a tag, as E2B's templates have
    return _PREFIX + bare if _SANDBOX.fullmatch(bare) else bare


def full_path(path: str) -> str:
    """A path as seen inside. Relative ones, and those that begin with ~, are below the home folder."""
    if "\x00" in path or len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise MalformedInput("A path has no NUL character and at most 4,096 bytes.", field="path")
    if path == "~" or path.startswith("~/"):
        path = path[2:]
    return posixpath.normpath(posixpath.join(HOME, path))


def whole_number(text: str) -> int | None:
    """The number that a text is, in ASCII digits, at most 18 of them; None: it is none."""
    return int(text) if _WHOLE.fullmatch(text) else None
