"""`outlast sandboxes …`: list, show, pause, resume, kill, logs."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption, ProjectOption, YesOption
from outlast.kernel.cli.session import call_server, wants_json
from outlast.kernel.cli.terminal import confirm, err, out, print_fields, print_list, print_result
from outlast.kernel.cli.units import format_bytes, format_duration

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
SandboxArgument = Annotated[str, typer.Argument(help="Id of the sandbox (sbx_…).")]
CLOCKS: Final = {
    "sandbox_pause": "pauses",
    "sandbox_stop": "stops",
    "sandbox_kill": "killed",
    "workspace_evict": "evicted",
    "program_pause": "pauses",
    "program_kill": "killed",
}


@app.verb("list", "outlast sandboxes list")
def list_sandboxes(project: ProjectOption = None, limit: LimitOption = None) -> None:
    """List the running and paused sandboxes of your projects, the newest first."""
    found = call_server(lambda client: living_sandboxes(client, project))
    now = datetime.now(UTC)
    print_list(
        {"items": found[:limit], "next": None},
        "sandbox=id state age cpu_s memory=memory_bytes disk=disk_bytes services next user=user_name owner",
        lambda item: _computed(item, now),
        empty="No sandboxes. One starts when an agent needs it.",
    )


async def living_sandboxes(client: "Client", project: str | None) -> list[dict[str, Any]]:
    """The sandboxes of a project, or of all projects of the caller; the newest first."""
    mine = [project] if project else [item["id"] for item in (await client.get("/v1/projects"))["items"]]
    found = [await client.get(f"/v1/projects/{one}/sandboxes") for one in mine]
    items = [item for page in found for item in page["items"]]
    return sorted(items, key=lambda item: str(item["created_at"]), reverse=True)


@app.verb("show", "outlast sandboxes show sbx_01h…")
def show(sandbox: SandboxArgument) -> None:
    """Show a sandbox: its state, usage, limits and services, and when it ends."""
    found = call_server(lambda client: client.get(f"/v1/sandboxes/{sandbox}"))
    limits, now = found["limits"], datetime.now(UTC)
    print_fields(
        found,
        "sandbox=id state of=thread_title thread=thread_id user=user_name provider started=created_at cpu=cpu_s"
        " memory disk services next",
        {
            "state": _state(found),
            "memory": _of_limit(found["memory_bytes"], limits["memory_bytes"]),
            "disk": _of_limit(found["disk_bytes"], limits["disk_bytes"]),
            "services": "\n".join(f"{one['name']}: {one['state']}" for one in found["services"]),
            "next": "\n".join(_clock(clock, now) for clock in found["clocks"]),
        },
    )


@app.verb("pause", "outlast sandboxes pause sbx_01h…")
def pause(sandbox: SandboxArgument) -> None:
    """Freeze a sandbox until its next use."""
    _change(sandbox, "pause")


@app.verb("resume", "outlast sandboxes resume sbx_01h…")
def resume(sandbox: SandboxArgument) -> None:
    """Wake a sandbox, or start a new one with the same files."""
    _change(sandbox, "resume")


@app.verb("kill", "outlast sandboxes kill sbx_01h… --yes")
def kill(sandbox: SandboxArgument, yes: YesOption = False) -> None:
    """End a sandbox and everything that runs in it.

    Its files are kept."""
    confirm(f"End {sandbox} and everything that runs in it? Its files are kept.", yes=yes)
    _change(sandbox, "kill")


@app.verb("logs", "outlast sandboxes logs sbx_01h… --service dev")
def logs(
    sandbox: SandboxArgument,
    source: Annotated[
        str | None,
        typer.Option("--service", "-s", help="Only logs of this service; 'sandbox' is the log of its start."),
    ] = None,
) -> None:
    """Show the last output of a sandbox's services and of its start."""
    found = call_server(lambda client: client.get(f"/v1/sandboxes/{sandbox}/logs"))["items"]
    shown = [log for log in found if source in (None, log["source"])]
    if source is not None and not shown:
        names = ", ".join(log["source"] for log in found)
        raise typer.BadParameter(f"There is no log of {source!r}. Use one of: {names}.")
    if wants_json():
        print_result({"items": shown, "next": None}, "")
        return
    for log in shown:
        if len(shown) > 1:
            err.print(f"== {log['source']}", style="bold")
        out.print(log["text"].rstrip("\n") or "(nothing)")


def _change(sandbox: str, verb: str) -> None:
    changed = call_server(lambda client: client.post(f"/v1/sandboxes/{sandbox}/{verb}"))
    print_result(changed, f"{changed['id']}: {_state(changed)}")


def _computed(item: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    services = item["services"]
    healthy = sum(service["state"] == "healthy" for service in services)
    return {
        "state": _state(item),
        "age": format_duration((now - datetime.fromisoformat(item["created_at"])).total_seconds()),
        "services": f"{healthy}/{len(services)}" if services else None,
        "next": _clock(item["clocks"][0], now) if item["clocks"] else None,
        "owner": item["thread_title"] or item["thread_id"] or item["workspace_id"],
    }


def _state(item: Mapping[str, Any]) -> str:
    return str(item["pause_kind"] or item["state"])


def _of_limit(used: int | None, limit: int | None) -> str | None:
    return f"{format_bytes(used)} of {format_bytes(limit)}" if used is not None and limit else format_bytes(used)


def _clock(clock: Mapping[str, Any], now: datetime) -> str:
    left = (datetime.fromisoformat(clock["due_at"]) - now).total_seconds()
    return f"{CLOCKS.get(clock['name'], clock['name'])} in {format_duration(left)}"
