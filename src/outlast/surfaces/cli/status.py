"""`outlast status`: the state of a server, and its activity."""

from typing import TYPE_CHECKING, Any, Final

import typer

from outlast.base.errors import NotSignedIn
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.session import call_server
from outlast.kernel.cli.terminal import print_fields
from outlast.kernel.sandboxes.commands import living_sandboxes

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

FIELDS: Final = "server version user database down sandboxes memory=memory_bytes isolation set_aside"
app = Commands()


@app.verb("status", "outlast status --json")
def status() -> None:
    """Show whether the server is ready, its version, parts that are down, and your sandboxes.

    The exit code is 0 if it is ready, 1 if it is not, and 4 if no server answers."""
    found = call_server(_read_status)
    computed = {
        "server": f"{found['url']}  {'ready' if found['ready'] else 'not ready'}",
        "user": found["user"] or "not signed in: use 'outlast login'",
        "down": ", ".join(found["down"]),
        "set_aside": f"{found['set_aside']} items: see 'outlast doctor'" if found["set_aside"] else None,
    }
    print_fields(found, FIELDS, computed)
    if not found["ready"]:
        raise typer.Exit(Exit.FAILED)


async def _read_status(client: "Client") -> dict[str, Any]:
    code, report = await client.report("/readyz", verbose="1")
    status: dict[str, Any] = {
        "url": client.url,
        "ready": code == 200,
        "version": None,
        "user": None,
        "database": report.get("database"),
        "isolation": (report.get("sandbox") or {}).get("isolation"),
        "down": report.get("down") or [],
        "set_aside": len(report.get("set_aside") or ()),
    }
    try:
        me = await client.get("/v1/me")
    except NotSignedIn:
        return status
    living = await living_sandboxes(client, None)
    memory = sum(one["memory_bytes"] or 0 for one in living)
    signed_in = {"version": me["version"], "user": me["user"]["name"]}
    return status | signed_in | {"sandboxes": len(living), "memory_bytes": memory}
