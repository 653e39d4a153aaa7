"""Saved servers: their addresses and tokens, in a file that only this user reads."""

from __future__ import annotations

import os
import tempfile
from dataclasses import field
from pathlib import Path
from typing import Final

import orjson

from outlast.base.errors import InvalidSetting
from outlast.base.records import dataclass

DEFAULT_URL: Final = "http://127.0.0.1:8400"


@dataclass(slots=True)
class SavedServers:
    """The content of the file: the default address, and a token for each address, or None if the server needs no token,
    as on its own machine."""

    current: str = DEFAULT_URL
    tokens: dict[str, str | None] = field(default_factory=dict)


def servers_file() -> Path:
    """`outlast/servers.json` in the user's configuration folder."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(folder) / "outlast" / "servers.json"


def load_servers() -> SavedServers:
    """All saved servers; none if the file belongs to another user. Raises `InvalidSetting` for a damaged file."""
    file = servers_file()
    try:
        saved = orjson.loads(file.read_bytes())
        return SavedServers(str(saved["current"]), dict(saved["tokens"]))
    except (FileNotFoundError, PermissionError):
        return SavedServers()
    except (OSError, LookupError, TypeError, ValueError):  # their messages may contain a token
        hint = "Delete the file, then sign in again with 'outlast login'."
        raise InvalidSetting(f"{file} is damaged.", hint=hint, setting=str(file)) from None


def save_servers(saved: SavedServers) -> None:
    """Replace the file atomically. Only this user can ever read it. Raises `InvalidSetting`."""
    file = servers_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, fresh = tempfile.mkstemp(dir=file.parent)  # with mode 0600
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(orjson.dumps(saved, option=orjson.OPT_INDENT_2))
        Path(fresh).replace(file)
    except OSError as error:
        hint = "Give this user write permission, or set XDG_CONFIG_HOME."
        raise InvalidSetting(f"{file} is not writable: {error.strerror}.", hint=hint) from None


def find_server(server: str | None, token: str | None) -> tuple[str, str | None]:
    """The address and token for these options. A saved token is sent only to the address it was saved with."""
    if server and token:
        return server, token
    saved = load_servers()
    url = (server or saved.current).rstrip("/")
    return url, token or saved.tokens.get(url)
