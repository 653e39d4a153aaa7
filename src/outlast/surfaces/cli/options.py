"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

if TYPE_CHECKING:
    from outlast.base.settings import Settings
    from outlast.surfaces.cli.client import Client

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

    from outlast.surfaces.cli.client import Client

    async def run() -> T:
        async with Client(url or DEFAULT_URL, token) as client:
            return await work(client)

    return anyio.run(run)


async def all_of_project(client: Client, project: str | None, noun: str) -> list[dict[str, Any]]:
    """Everything of a kind (`screens`, `pages`) that a project has, asked for part by part; no project: the default."""
    chosen = project or (await client.get("/v1/me"))["default_project_id"]
    items: list[dict[str, Any]] = []
    after = None
    while True:
        found = await client.get(f"/v1/projects/{chosen}/{noun}", after=after)
        items += found["items"]
        after = found["next"]
        if after is None:
            return items
