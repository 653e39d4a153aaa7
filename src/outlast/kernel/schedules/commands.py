"""`outlast schedules …`: agents that start by the clock."""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from outlast.kernel.cli import terminal
from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import FollowOption, LimitOption, ProjectOption
from outlast.kernel.cli.session import call_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
ScheduleArgument = Annotated[str, typer.Argument(help="Id of the schedule (sch_…).")]
CronOption = Annotated[str, typer.Option(help="Five fields: minute, hour, day, month, day of the week.")]
ZoneOption = Annotated[str, typer.Option(help="Time zone, such as Europe/Berlin.")]
OnMissedOption = Annotated[
    Literal["skip", "one"], typer.Option(help="Runs for times missed while no server ran: none, or one for all.")
]
ThreadOption = Annotated[Literal["same", "new"], typer.Option(help="One thread for all runs, or a new one for each.")]
FIELDS: Final = "schedule=id title state next last agent model message times zone missed=on_missed thread by problem"


@app.verb("list", "outlast schedules list --project prj_01h…")
def list_schedules(project: ProjectOption = None, limit: LimitOption = 50) -> None:
    """List the schedules of a project, the newest first."""

    async def work(client: "Client") -> Any:
        return await client.items(f"/v1/projects/{await client.project_id(project)}/schedules", limit)

    terminal.print_list(
        call_server(work),
        "schedule=id state next last agent times=cron title",
        _computed,
        empty="No schedules. Make one with 'outlast schedules create'.",
    )


@app.verb("create", "outlast schedules create 'Sum up the week.' --cron '0 16 * * FRI' --zone Europe/Berlin")
def create(
    message: Annotated[str, typer.Argument(help="What the agent gets each time; '' for a flow.")],
    cron: CronOption,
    zone: ZoneOption = "UTC",
    title: Annotated[str | None, typer.Option(help="Title. Default: the beginning of the message.")] = None,
    agent: Annotated[str, typer.Option(help="Name of the agent.")] = "chat",
    model: Annotated[str | None, typer.Option(help="Model. Default: the agent's.")] = None,
    on_missed: OnMissedOption = "skip",
    thread: ThreadOption = "new",
    project: ProjectOption = None,
) -> None:
    """Make a schedule and print its id. Its runs start as you."""
    named = title or terminal.one_line(message)[:60] or agent

    async def work(client: "Client") -> Any:
        return await client.create(
            f"/v1/projects/{await client.project_id(project)}/schedules",
            title=named,
            agent=agent,
            message=message,
            model=model,
            cron=cron,
            zone=zone,
            on_missed=on_missed,
            thread=thread,
        )

    made = call_server(work)
    terminal.print_result(made, made["id"])


@app.verb("show", "outlast schedules show sch_01h…")
def show(schedule: ScheduleArgument) -> None:
    """Show a schedule: its next time, its last run, and what it does."""
    found = call_server(lambda client: client.get(f"/v1/schedules/{schedule}"))
    problem = found["problem"]
    computed = {
        "times": found["cron"],
        "by": "the code of its agent" if found["origin"] == "code" else found["created_by_name"],
        "problem": f"{problem['message']}\n{problem['hint']}".strip() if problem else None,
    }
    terminal.print_fields(found, FIELDS, _computed(found) | computed)


@app.verb("update", "outlast schedules update sch_01h… --cron '0 9 * * 1-5'")
def update(
    schedule: ScheduleArgument,
    message: Annotated[str | None, typer.Option(help="What the agent gets each time.")] = None,
    cron: Annotated[str | None, typer.Option(help="Five fields, as for 'create'.")] = None,
    zone: Annotated[str | None, typer.Option(help="Time zone, such as Europe/Berlin.")] = None,
    title: Annotated[str | None, typer.Option(help="Title.")] = None,
    agent: Annotated[str | None, typer.Option(help="Name of the agent.")] = None,
    model: Annotated[str | None, typer.Option(help="Model.")] = None,
    on_missed: Annotated[Literal["skip", "one"] | None, typer.Option(help="As for 'create'.")] = None,
    thread: Annotated[Literal["same", "new"] | None, typer.Option(help="As for 'create'.")] = None,
) -> None:
    """Change what a schedule of yours does. What you leave out stays."""
    given = {
        "message": message, "cron": cron, "zone": zone, "title": title, "agent": agent, "model": model,
        "on_missed": on_missed, "thread": thread,
    }  # fmt: skip
    _change(schedule, "saved", **{name: value for name, value in given.items() if value is not None})


@app.verb("pause", "outlast schedules pause sch_01h…")
def pause(schedule: ScheduleArgument) -> None:
    """Let a schedule start no runs until you resume it."""
    _change(schedule, "paused", enabled=False)


@app.verb("resume", "outlast schedules resume sch_01h…")
def resume(schedule: ScheduleArgument) -> None:
    """Let a paused schedule start runs again, from its next time on."""
    _change(schedule, "resumed", enabled=True)


@app.verb("run", "outlast schedules run sch_01h…")
def run(schedule: ScheduleArgument, follow: FollowOption = True) -> None:
    """Start a run of a schedule now, as you, and follow it. Its next times stay as they are."""
    from outlast.kernel.runs.commands import follow_started

    async def work(client: "Client") -> int:
        started = await client.create(f"/v1/schedules/{schedule}/run")
        if follow:
            return await follow_started(client, started)
        terminal.print_result(started, started["run_id"])
        return 0

    raise typer.Exit(call_server(work))


@app.verb("delete", "outlast schedules delete sch_01h…")
def delete(schedule: ScheduleArgument) -> None:
    """Delete a schedule. Its threads and runs stay."""
    call_server(lambda client: client.delete(f"/v1/schedules/{schedule}"))
    terminal.print_result({"id": schedule, "state": "deleted"}, f"{schedule}: deleted")


def _change(schedule: str, done: str, **fields: Any) -> None:
    made = call_server(lambda client: client.patch(f"/v1/schedules/{schedule}", fields))
    terminal.print_result(made, f"{schedule}: {done}")


def _computed(schedule: dict[str, Any]) -> dict[str, Any]:
    due, last = schedule["next_times"], schedule["last_run"]
    state = "failing" if schedule["problem"] else "on"
    return {
        "state": state if schedule["enabled"] else "paused",
        "next": terminal.local_time(due[0]) if due else None,
        "last": last["status"] if last else None,
    }
