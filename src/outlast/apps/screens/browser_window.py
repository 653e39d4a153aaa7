"""Waiting at a terminal until a screen's app runs."""

from typing import TYPE_CHECKING, Any, Final

from outlast.kernel.cli.terminal import err

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

DEV_SERVER: Final = "dev"


async def open_and_wait(client: "Client", screen_id: str, *, wait: bool) -> str | None:
    """Open a screen; once its app answers, a link that shows it. None: it does not run (which was told), or nobody
    waits. The one-time installation of its template, and what goes wrong, are told as they happen."""
    screen = await client.get(f"/v1/screens/{screen_id}")
    cursor = (await client.get(f"/v1/projects/{screen['project_id']}"))["cursor"]
    await client.post(f"/v1/screens/{screen_id}/open")
    if not wait:
        return None
    if not await _runs(client, screen) and not await _comes_to_run(client, screen, cursor):
        return None
    link: str = (await client.post(f"/v1/screens/{screen_id}/preview"))["ticket_url"]
    return link


async def _runs(client: "Client", screen: dict[str, Any]) -> bool:
    if screen["sandbox_id"] is None:
        return False
    sandbox = await client.get(f"/v1/sandboxes/{screen['sandbox_id']}")
    return sandbox["state"] == "ready" and _dev(sandbox["services"]) == ("healthy", None)


async def _comes_to_run(client: "Client", screen: dict[str, Any], cursor: str) -> bool:
    told = ""
    async for _, event in client.follow(f"/v1/projects/{screen['project_id']}/events", cursor):
        data, line = event["data"], ""
        match event["event"]:
            case "sandbox.state" if data["workspace_id"] == screen["workspace_id"]:
                state, error = _dev(data["services"])
                if data["state"] == "ready" and state == "healthy":
                    return True
                if state == "failed":
                    err.print(f"Its dev server failed: {error}", style="red")
                    return False
                line = f"sandbox {data['state']}, dev server {state}"
            case "snapshot.progress" if data["state"] != "ready":
                line = f"installing: {data['step']}"
            case "screen.updated" if data["screen"]["id"] == screen["id"] and data["screen"]["trouble"]:
                err.print(data["screen"]["trouble"], style="red")
                return False
            case "screen.deleted" if data["screen_id"] == screen["id"]:
                err.print("It was removed.", style="red")
                return False
        if line and line != told:
            err.print(line, style="dim")
            told = line
    return False


def _dev(services: list[dict[str, Any]]) -> tuple[str, str | None]:
    """State of the dev server, and why it failed."""
    for service in services:
        if service["name"] == DEV_SERVER:
            return service["state"], service["error"]
    return "stopped", None
