"""The shared options of one call: the server and token, or the data directory, and whether to print JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from outlast.base.records import dataclass

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client
    from outlast.kernel.settings import Settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Session:
    """The shared options of one command. `server` is an address, or None for the one of the last login."""

    json: bool = False
    server: str | None = None
    token: str | None = None
    config: Path | None = None
    data_dir: str | None = None


_current: ContextVar[Session] = ContextVar("session", default=Session())  # noqa: B039 - frozen


@contextmanager
def session_of(**options: Any) -> Iterator[None]:
    """Use these options while this context is open."""
    before = _current.set(Session(**options))
    try:
        yield
    finally:
        _current.reset(before)


def wants_json() -> bool:
    """True if results are printed as JSON."""
    return _current.get().json


def is_place_named() -> bool:
    """True if --config or --data-dir names the data directory: only then may a command create one."""
    session = _current.get()
    return session.config is not None or session.data_dir is not None


def read_settings(**flags: Any) -> Settings:
    """The settings from the flags, the environment and the configuration file. `flags` belong to the section [server];
    None means not given."""
    from outlast.kernel.settings.load import load_settings

    session = _current.get()
    given = {f"server.{name}": value for name, value in ({"data_dir": session.data_dir} | flags).items()}
    return load_settings(session.config, flags=given)


def call_server(work: Callable[[Client], Awaitable[T]]) -> T:
    """Run `work` with a connection to the server. Raises the server's errors, and `Unreachable`."""
    import anyio

    from outlast.kernel.cli.client import Client
    from outlast.kernel.cli.servers import find_server

    session = _current.get()
    url, token = find_server(session.server, session.token)

    async def run() -> T:
        async with Client(url, token) as client:
            return await work(client)

    return anyio.run(run)


def command_line(words: str) -> str:
    """A command to type next, for the same server as this one."""
    server = _current.get().server
    return f"outlast {words} --server {server}" if server else f"outlast {words}"
