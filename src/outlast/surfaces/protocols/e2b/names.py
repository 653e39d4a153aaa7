"""Converts between E2B's names and numbers and ours."""

import hashlib
import posixpath
import re
from typing import Final

from outlast.base.errors import MalformedInput, NotFound
from outlast.base.ids import KINDS

ENVD_PORT: Final = 49983
ENVD_VERSION: Final = "0.6.4"  # the envd version implemented here; SDKs enable features by it
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
    """The workspace of a sandbox id. Raises `NotFound` if it cannot be one of our ids."""
    bare = sandbox_id.split("-", 1)[0].lower()  # older SDKs append the id of the client
    if not _SANDBOX.fullmatch(bare):
        raise NotFound(f"The sandbox {sandbox_id[:60]} was not found.", noun="sandbox")
    return _PREFIX + bare


def traffic_token(access_token: str) -> str:
    """The token that opens the ports of the sandbox with this access token, and nothing else."""
    return "stt_" + hashlib.sha256(f"traffic:{access_token}".encode()).hexdigest()[:48]


def template_of(named: str) -> str:
    """A template's name for the actions: the id of a snapshot that a program created, or the name unchanged."""
    bare = named.split(":", 1)[0]  # a tag, as E2B's templates have
    return _PREFIX + bare if _SANDBOX.fullmatch(bare) else bare


def full_path(path: str) -> str:
    """An absolute path inside the sandbox. Relative paths, and those that begin with ~, are below the home folder."""
    if "\x00" in path or len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise MalformedInput("A path must have at most 4,096 bytes and no NUL character.", field="path")
    if path == "~" or path.startswith("~/"):
        path = path[2:]
    return posixpath.normpath(posixpath.join(HOME, path))


def whole_number(text: str) -> int | None:
    """The number in a text of 1 to 18 ASCII digits; None for any other text."""
    return int(text) if _WHOLE.fullmatch(text) else None
