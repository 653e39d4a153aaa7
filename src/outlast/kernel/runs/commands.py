"""`outlast runs …`: start, follow, steer, decide, show, export."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import orjson
import typer

from outlast.kernel.cli.commands import Commands
from outlast.kernel.cli.options import FollowOption, LimitOption, ProjectOption
from outlast.kernel.cli.run_text import shorten
from outlast.kernel.cli.session import call_server, command_line, wants_json
from outlast.kernel.cli.terminal import err, one_line, print_fields, print_json, print_list, print_result
from outlast.kernel.cli.units import count

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = Commands()
RunArgument = Annotated[str, typer.Argument(help="Id of the run (run_…).")]
ApprovalArgument = Annotated[str, typer.Argument(help="Id of the approval (apr_…).")]
MAX_ANSWER_LINES: Final = 12
DECISIONS: Final = {"approval": "approve", "question": "answer"}
FIELDS: Final = (
    "run=id state thread agent started=created_at by duration=duration_s work usage failed problems waits answer"
)
Status = Literal["queued", "running", "awaiting_approval", "paused", "completed", "cancelled", "error"]


@app.verb("start", 'outlast runs start "Write a haiku about rain"')
def start(
    message: Annotated[str, typer.Argument(help="Message to send. '-' reads it from standard input.")],
    thread: Annotated[str | None, typer.Option(help="Thread to continue. Default: a new one.")] = None,
    screen: Annotated[str | None, typer.Option(help="Work on this screen (scr_…), in its thread.")] = None,
    page: Annotated[str | None, typer.Option(help="Work on this page (pag_…), in its thread.")] = None,
    document: Annotated[str | None, typer.Option(help="Work on this document (doc_…), in its thread.")] = None,
    project: ProjectOption = None,
    model: Annotated[str | None, typer.Option(help="Id of the model. Default: the server's.")] = None,
    profile: Annotated[str | None, typer.Option(help="Agent of a new thread. Default: chat.")] = None,
    on_busy: Annotated[
        Literal["reject", "enqueue", "interrupt"], typer.Option(help="If the thread has a run.")
    ] = "reject",
    follow: FollowOption = True,
) -> None:
    """Start a run and follow it.

    Ctrl+C stops following. The run continues on the server."""
    subjects = {"screens": screen, "pages": page, "documents": document}
    chosen = [f"/v1/{noun}/{one}" for noun, one in subjects.items() if one]
    if len(chosen) + bool(thread) > 1:
        raise typer.BadParameter("Give only one of --thread, --screen, --page and --document.")
    text = sys.stdin.read() if message == "-" else message

    async def work(client: "Client") -> int:
        own_thread = (await client.get(chosen[0]))["thread_id"] if chosen else thread
        path, new = f"/v1/threads/{own_thread}/runs", {}
        if not own_thread:
            path, new = "/v1/runs", {"project_id": project, "profile": profile}
        started = await client.create(path, content=text, on_busy=on_busy, model=model, **new)
        if not follow:
            print_result(started, started["run_id"])
            return 0
        return await follow_started(client, started, str(started["cursor"]))

    raise typer.Exit(call_server(work))


async def follow_started(client: "Client", started: dict[str, Any], after: str = "0") -> int:
    """Print the id of the started run, then follow it; the exit code."""
    if not wants_json():
        err.print(f"{started['run_id']} in {started['thread_id']}", style="dim")
    return await _follow(client, started["run_id"], after)


async def _follow(client: "Client", run: str, after: str) -> int:
    from outlast.kernel.cli.run_follow import follow_run

    return await follow_run(client, run, after)


@app.verb("follow", "outlast runs follow run_01h…")
def follow(run: RunArgument, after: Annotated[str, typer.Option(help="Cursor to continue from.")] = "0") -> None:
    """Show a run from its beginning and follow it to its end."""
    raise typer.Exit(call_server(lambda client: _follow(client, run, after)))


@app.verb("list", "outlast runs list --status running")
def list_runs(
    project: ProjectOption = None,
    thread: Annotated[str | None, typer.Option(help="Only runs of this thread (thr_…).")] = None,
    status: Annotated[Status | None, typer.Option(help="Only runs with this status.")] = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="Only runs with these words.")] = None,
    limit: LimitOption = 20,
) -> None:
    """List runs, the newest first."""
    print_list(
        call_server(
            lambda client: client.items("/v1/runs", limit, project=project, thread=thread, status=status, q=query)
        ),
        "run=id status reason=stop_reason model created=created_at thread=thread_title",
        empty="No runs.",
    )


@app.verb("show", "outlast runs show run_01h…")
def show(run: RunArgument) -> None:
    """Show the state of a run: status, times, usage, pending decisions, and its answer.

    To see all its work: outlast runs follow"""
    found = call_server(lambda client: client.get(f"/v1/runs/{run}"))
    usage, error, reason = found["usage"], found["error"], found["waiting_for"] or found["stop_reason"]
    computed = {
        "state": f"{found['status']} ({reason})" if reason else found["status"],
        "thread": f"{one_line(found['thread_title'])} ({found['thread_id']})",
        "agent": f"{found['profile']}, {found['model']}",
        "by": found["started_by_name"] or "an agent",
        "work": f"{count(found['step_count'], 'step')}, {count(found['tool_count'], 'tool call')}",
        "usage": f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out",
        "failed": f"{error['message']}\n{error['hint']}" if error else None,
        "problems": "\n".join(one_line(str(problem)) for problem in found["problems"]),
        "waits": "\n".join(map(_pending, found["pending"])),
        "answer": _last_text(found),
    }
    print_fields(found, FIELDS, computed)


def _pending(item: dict[str, Any]) -> str:
    """A decision that a user has to make, and the command for it."""
    if item["kind"] == "approval":
        asked = f"{item['tool']} {shorten(item['arguments'])}"
    else:
        asked = " ".join(question["question"] for question in item["questions"])
    command = f"runs {DECISIONS[item['kind']]} {item['id']}"
    return f"{one_line(asked)}\n{command_line(command)}"


def _last_text(run: dict[str, Any]) -> str:
    """The last text of the run, shortened."""
    texts = [part["text"].strip() for part in run["parts"] if part["type"] == "text"]
    lines = texts[-1].splitlines() if texts else []
    if len(lines) > MAX_ANSWER_LINES:
        lines = [
            *lines[:MAX_ANSWER_LINES],
            f"… {len(lines) - MAX_ANSWER_LINES} more lines: outlast runs follow {run['id']}",
        ]
    return "\n".join(lines)


@app.verb("cancel", "outlast runs cancel run_01h…")
def cancel(run: RunArgument) -> None:
    """Cancel a run.

    What it has done so far is kept."""
    _post(f"/v1/runs/{run}/cancel", "{id}: {status}")


@app.verb("steer", 'outlast runs steer run_01h… "Only the unit tests, please"')
def steer(
    run: RunArgument, message: Annotated[str, typer.Argument(help="Message to send. '-' reads it from standard input.")]
) -> None:
    """Send a message that the agent reads before its next turn, and print its id."""
    text = sys.stdin.read() if message == "-" else message
    sent = call_server(lambda client: client.create(f"/v1/runs/{run}/steer", content=text))
    print_result(sent, sent["id"])


@app.verb("resume", "outlast runs resume run_01h…")
def resume(run: RunArgument) -> None:
    """Wake the sandbox of a paused run.

    The run then waits for your decision again."""
    _post(f"/v1/runs/{run}/resume", "{id}: {status}")


@app.verb("retry", "outlast runs retry run_01h…")
def retry(run: RunArgument) -> None:
    """Answer the same message again in a new run, and print its id."""
    _post(f"/v1/runs/{run}/retry", "{run_id}")


@app.verb("continue", "outlast runs continue run_01h…")
def continue_run(run: RunArgument) -> None:
    """Continue a failed or cancelled run in a new run, and print its id."""
    _post(f"/v1/runs/{run}/continue", "{run_id}")


@app.verb("approve", "outlast runs approve apr_01h…")
def approve(
    approval: ApprovalArgument,
    arguments: Annotated[str | None, typer.Option(help="Call the tool with these arguments (JSON) instead.")] = None,
    thread: Annotated[bool, typer.Option("--thread", help="Allow the same call for the whole thread.")] = False,
) -> None:
    """Allow a tool call."""
    _decide(approval, decision="approve", arguments=arguments, remember="thread" if thread else None)


@app.verb("deny", 'outlast runs deny apr_01h… --reason "Keep the build folder"')
def deny(approval: ApprovalArgument, reason: Annotated[str, typer.Option(help="The agent reads it.")] = "") -> None:
    """Refuse a tool call."""
    _decide(approval, decision="deny", reason=reason)


def _decide(approval: str, **decision: str | None) -> None:
    sent = {name: value for name, value in decision.items() if value is not None}
    _post(f"/v1/approvals/{approval}", "{id}: {decision}", sent)


@app.verb("answer", "outlast runs answer que_01h… color=blue")
def answer(
    question: Annotated[str, typer.Argument(help="Id of the question (que_…).")],
    answers: Annotated[list[str], typer.Argument(help="NAME=ANSWER for each part of the question.")],
) -> None:
    """Answer a question of an agent."""
    pairs = dict(item.partition("=")[::2] for item in answers)
    _post(f"/v1/questions/{question}", "{id}: {decision}", {"answers": pairs})


def _post(path: str, text: str, body: dict[str, Any] | None = None) -> None:
    """Send a change and print the result; `text` names fields of the answer."""
    answer = call_server(lambda client: client.post(path, body))
    print_result(answer, text.format(**answer))


@app.verb("export", "outlast runs export run_01h… --out run.json")
def export(
    run: RunArgument,
    file: Annotated[Path | None, typer.Option("--out", "-o", help="File to write. Default: standard output.")] = None,
) -> None:
    """Export a run with its whole log as JSON."""
    content = call_server(lambda client: client.get(f"/v1/runs/{run}/export"))
    if file is None:
        print_json(content)
        return
    file.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
    err.print(f"{file}: {file.stat().st_size:,} bytes")
