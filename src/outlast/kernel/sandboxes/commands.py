"""`outlast sandbox …`: what runs, what it uses, what time will take away; pause, resume, kill, logs."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from outlast.kernel.cli.consoles import err, out, tell_json, tell_rows
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, with_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(
    no_args_is_help=True, help="See the sandboxes of your projects; pause, resume and end them."
)
SandboxArgument = Annotated[str, typer.Argument(help="Id of the sandbox (sbx_…).")]
COLUMNS: Final = ("sandbox", "state", "age", "cpu", "memory", "disk", "services", "next", "user", "owner")
CLOCKS: Final = {
    "sandbox_pause": "pauses",
    "sandbox_stop": "stops",
    "sandbox_kill": "killed",
    "workspace_evict": "evicted",
    "program_pause": "pauses",
    "program_kill": "killed",
}


@app.command("list")
def list_sandboxes(
    project: Annotated[str | None, typer.Option(help="Only of this project; without: all of yours.")] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Living sandboxes, the newest first."""

    async def work(client: "Client") -> list[dict[str, Any]]:
        mine = [project] if project else [item["id"] for item in (await client.get("/v1/projects"))["items"]]
        found = [await client.get(f"/v1/projects/{one}/sandboxes") for one in mine]
        items = [item for page in found for item in page["items"]]
        return sorted(items, key=lambda item: str(item["created_at"]), reverse=True)

    items = with_server(url, token, work)
    if as_json:
        tell_json({"items": items, "next": None})
        return
    now = datetime.now(UTC)
    tell_rows(
        COLUMNS, [_row(item, now) for item in items], empty="No sandboxes: one is made when a tool needs it."
    )


@app.command()
def show(sandbox: SandboxArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Everything about a sandbox, as JSON: usage, limits, services and every clock."""
    tell_json(with_server(url, token, lambda client: client.get(f"/v1/sandboxes/{sandbox}")))


@app.command()
def pause(sandbox: SandboxArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Freeze it where it is. Its next use wakes it."""
    _change(sandbox, "pause", url, token)


@app.command()
def resume(sandbox: SandboxArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Wake it, or start a new one over the same files."""
    _change(sandbox, "resume", url, token)


@app.command()
def kill(
    sandbox: SandboxArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """End it with everything that runs in it; its files stay."""
    if not yes:
        typer.confirm(f"End {sandbox} with everything that runs in it? Its files stay.", abort=True, err=True)
    _change(sandbox, "kill", url, token)


@app.command()
def logs(
    sandbox: SandboxArgument,
    source: Annotated[
        str | None, typer.Option("--service", "-s", help="Only of this service; 'sandbox': of itself.")
    ] = None,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """The end of what its services printed, and what its own start noted."""
    found = with_server(url, token, lambda client: client.get(f"/v1/sandboxes/{sandbox}/logs"))["items"]
    shown = [log for log in found if source in (None, log["source"])]
    if as_json:
        tell_json({"items": shown, "next": None})
        return
    if source is not None and not shown:
        names = ", ".join(log["source"] for log in found)
        err.print(f"There is no log of {source!r}; there are: {names}.")
        raise typer.Exit(Exit.FAILED)
    for log in shown:
        if len(shown) > 1:
            err.print(f"== {log['source']}", style="bold")
        out.print(log["text"].rstrip("\n") or "(nothing)")


def _change(sandbox: str, verb: str, url: str, token: str | None) -> None:
    told = with_server(url, token, lambda client: client.post(f"/v1/sandboxes/{sandbox}/{verb}"))
    out.print(f"{told['id']}: {_state(told)}")


def _row(item: Mapping[str, Any], now: datetime) -> tuple[str | None, ...]:
    services = item["services"]
    well = sum(service["state"] == "healthy" for service in services)
    return (
        item["id"],
        _state(item),
        span((now - datetime.fromisoformat(item["created_at"])).total_seconds()),
        None if item["cpu_s"] is None else f"{item['cpu_s']:.1f} s",
        amount(item["memory_bytes"]),
        amount(item["disk_bytes"]),
        f"{well}/{len(services)}" if services else None,
        _next(item, now),
        item["user_name"],
        item["thread_title"] or item["thread_id"] or item["workspace_id"],
    )


def _state(item: Mapping[str, Any]) -> str:
    return str(item["pause_kind"] or item["state"])


def _next(item: Mapping[str, Any], now: datetime) -> str | None:
    """The soonest clock, in short."""
    if not item["clocks"]:
        return None
    clock = item["clocks"][0]
    left = (datetime.fromisoformat(clock["due_at"]) - now).total_seconds()
    return f"{CLOCKS.get(clock['name'], clock['name'])} in {span(left)}"


def span(seconds: float) -> str:
    """A length of time in one unit: "40 s", "12 min", "3 h", "5 d"."""
    seconds = max(0.0, seconds)
    for unit, size, below in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172_800)):
        if seconds < below:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:.0f} d"


def amount(size_bytes: int | None) -> str | None:
    """Bytes in one unit; None stays None."""
    if size_bytes is None:
        return None
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes >= size:
            return f"{size_bytes / size:.1f} {unit}" if unit == "GiB" else f"{size_bytes // size} {unit}"
    return f"{size_bytes} B"
