"""Options that several commands share."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

if TYPE_CHECKING:
    from outlast.base.settings import Settings
    from outlast.kernel.cli.client import Client

T = TypeVar("T")
DEFAULT_URL: Final = "http://127.0.0.1:8400"

ConfigOption = Annotated[
    Path | None, typer.Option("--config", "-c", help="Configuration file (TOML).", envvar="OUTLAST_CONFIG")
]
DataDirOption = Annotated[
    str | None, typer.Option("--data-dir", "-d", help="Folder for the database, stored files and workspaces.")
]
UrlOption = Annotated[str, typer.Option("--url", help="Address of the server.", envvar="OUTLAST_URL")]
TokenOption = Annotated[
    str | None,
    typer.Option("--token", help="API token; not needed on the server's machine.", envvar="OUTLAST_TOKEN"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def read_settings(config: Path | None, data_dir: str | None = None, **server: Any) -> Settings:
    """The settings as this command's flags, the environment and the file give them."""
    from outlast.base.settings import load_settings

    flags = {f"server.{name}": value for name, value in server.items()}
    return load_settings(config, flags={**flags, "server.data_dir": data_dir})


def with_server(url: str, token: str | None, work: Callable[[Client], Awaitable[T]]) -> T:
    """Run `work` with a connection to the server."""
    import anyio

    from outlast.kernel.cli.client import Client

    async def run() -> T:
        async with Client(url or DEFAULT_URL, token) as client:
            return await work(client)

    return anyio.run(run)


async def project_of(client: Client, project: str | None) -> str:
    """The project that is meant; none named: the caller's default one."""
    return project or str((await client.get("/v1/me"))["default_project_id"])


async def made_in_project(client: Client, project: str | None, noun: str, given: dict[str, Any]) -> Any:
    """Make something of a kind (`screens`, `pages`) in a project, with what of `given` was said."""
    body = {name: value for name, value in given.items() if value is not None}
    path = f"/v1/projects/{await project_of(client, project)}/{noun}"
    return await client.post(path, body, idempotency_key=uuid.uuid4().hex)


def text_of(place: str) -> str:
    """A file's text, or with `-` that of standard input."""
    if place == "-":
        return sys.stdin.read()
    try:
        return Path(place).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{place} cannot be read: {error}") from None


async def all_of_project(client: Client, project: str | None, noun: str) -> list[dict[str, Any]]:
    """Everything of a kind (`screens`, `pages`) that a project has, asked for part by part; no project: the default."""
    chosen = await project_of(client, project)
    items: list[dict[str, Any]] = []
    after = None
    while True:
        found = await client.get(f"/v1/projects/{chosen}/{noun}", after=after)
        items += found["items"]
        after = found["next"]
        if after is None:
            return items
