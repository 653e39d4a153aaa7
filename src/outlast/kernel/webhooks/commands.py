"""`outlast webhooks …`: events of a project that are sent to another program."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import LimitOption, ProjectOption
from outlast.kernel.cli.session import call_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
WebhookArgument = Annotated[str, typer.Argument(help="Id of the webhook (whk_…).")]
EventOption = Annotated[list[str] | None, typer.Option("--event", "-e", help="Event to send. Repeat it for several.")]
TitleOption = Annotated[str | None, typer.Option(help="Title of the webhook.")]


@app.verb("events", "outlast webhooks events")
def events() -> None:
    """List the events that webhooks can take."""
    found = call_server(lambda client: client.get("/v1/webhooks/events"))
    terminal.print_result(found, "\n".join(found["items"]))


@app.verb("create", "outlast webhooks create https://example.com/hooks --event run.completed")
def create(
    url: Annotated[str, typer.Argument(help="Address that the events are sent to.")],
    event: EventOption = None,
    title: TitleOption = None,
    project: ProjectOption = None,
) -> None:
    """Create a webhook and print its secret. It is not shown again.

    Without --event, it takes run.completed, run.error and approval.requested."""
    chosen = event or ["run.completed", "run.error", "approval.requested"]

    async def work(client: "Client") -> Any:
        path = f"/v1/projects/{await client.project_id(project)}/webhooks"
        return await client.post(path, {"url": url, "events": chosen, "title": title or ""})

    _print_secret(call_server(work))


@app.verb("list", "outlast webhooks list --project prj_01h…")
def list_webhooks(project: ProjectOption = None) -> None:
    """List the webhooks of a project."""

    async def work(client: "Client") -> Any:
        return await client.get(f"/v1/projects/{await client.project_id(project)}/webhooks")

    columns = "webhook=id on=enabled pending dead title url"
    terminal.print_list(call_server(work), columns, empty="No webhooks. Create one with 'outlast webhooks create'.")


@app.verb("change", "outlast webhooks change whk_01h… --off")
def change(
    webhook: WebhookArgument,
    url: Annotated[str | None, typer.Option(help="New address.")] = None,
    event: EventOption = None,
    title: TitleOption = None,
    enabled: Annotated[bool | None, typer.Option("--on/--off", help="Send events, or send none.")] = None,
) -> None:
    """Change a webhook, or turn it on or off. What you leave out stays unchanged."""
    given = {"url": url, "events": event, "title": title, "enabled": enabled}
    changes = {name: value for name, value in given.items() if value is not None}
    changed = call_server(lambda client: client.patch(f"/v1/webhooks/{webhook}", changes))
    terminal.print_result(changed, f"{webhook}: {'on' if changed['enabled'] else 'off'}, {changed['url']}")


@app.verb("rotate", "outlast webhooks rotate whk_01h…")
def rotate(webhook: WebhookArgument) -> None:
    """Give a webhook a new secret and print it. The old one stays valid for a day."""
    _print_secret(call_server(lambda client: client.post(f"/v1/webhooks/{webhook}/rotate")))


@app.verb("test", "outlast webhooks test whk_01h…")
def test(webhook: WebhookArgument) -> None:
    """Send a test event to a webhook."""
    sent = call_server(lambda client: client.post(f"/v1/webhooks/{webhook}/test"))
    terminal.print_result(sent, f"{sent['id']}: {sent['state']}")


@app.verb("deliveries", "outlast webhooks deliveries whk_01h… --state dead")
def deliveries(
    webhook: WebhookArgument,
    state: Annotated[str | None, typer.Option(help="pending, delivered or dead.")] = None,
    before: Annotated[str | None, typer.Option(help="Only deliveries older than this one (whd_…).")] = None,
    limit: LimitOption = 50,
) -> None:
    """List the deliveries of a webhook, the newest first."""

    async def work(client: "Client") -> Any:
        return await client.items(f"/v1/webhooks/{webhook}/deliveries", limit, state=state, before=before)

    columns = "delivery=id event state tries status=last_status next=next_try_at created=created_at reason"
    terminal.print_list(call_server(work), columns, empty="No deliveries.")


@app.verb("replay", "outlast webhooks replay whd_01h…")
def replay(delivery: Annotated[str, typer.Argument(help="Id of the delivery (whd_…).")]) -> None:
    """Send a finished delivery again."""
    again = call_server(lambda client: client.post(f"/v1/webhook-deliveries/{delivery}/replay"))
    terminal.print_result(again, f"{delivery}: {again['state']}")


@app.verb("replay-dead", "outlast webhooks replay-dead whk_01h…")
def replay_dead(webhook: WebhookArgument) -> None:
    """Send deliveries that were given up again, up to 1,000."""
    done = call_server(lambda client: client.post(f"/v1/webhooks/{webhook}/replay"))
    more = " There are more: repeat the command." if done["more"] else ""
    terminal.print_result(done, f"{done['replayed']} sent again.{more}")


@app.verb("delete", "outlast webhooks delete whk_01h…", "remove")
def delete(webhook: WebhookArgument) -> None:
    """Delete a webhook with its deliveries."""
    call_server(lambda client: client.delete(f"/v1/webhooks/{webhook}"))
    terminal.print_result({"id": webhook, "state": "deleted"}, f"{webhook}: deleted")


def _print_secret(made: dict[str, Any]) -> None:
    terminal.err.print(f"Webhook {made['id']}. Keep its secret: it is not shown again.", style="dim")
    terminal.print_result(made, made["secret"])
