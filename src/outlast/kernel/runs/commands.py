"""`outlast run …`: start, follow, decide, list, export."""

import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from outlast.kernel.cli.consoles import err, out, tell_json, tell_rows
from outlast.kernel.cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, with_server

if TYPE_CHECKING:
    from outlast.kernel.cli.client import Client

app = typer.Typer(no_args_is_help=True, help="Start runs, follow them, decide what they ask.")
RunArgument = Annotated[str, typer.Argument(help="Id of the run (run_…).")]


@app.command()
def start(
    message: Annotated[str, typer.Argument(help="What to ask; '-' reads it from standard input.")],
    thread: Annotated[str | None, typer.Option(help="Thread to go on with; without: a new one.")] = None,
    screen: Annotated[
        str | None, typer.Option(help="Screen to work on (scr_…): goes on in its thread.")
    ] = None,
    page: Annotated[str | None, typer.Option(help="Page to work on (pag_…): goes on in its thread.")] = None,
    document: Annotated[
        str | None, typer.Option(help="Document to work on (doc_…): goes on in its thread.")
    ] = None,
    project: Annotated[
        str | None, typer.Option(help="Project of a new thread; without: the default one.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model id; without: the default one.")] = None,
    profile: Annotated[str | None, typer.Option(help="Agent profile of a new thread.")] = None,
    on_busy: Annotated[str, typer.Option(help="In a busy thread: reject, enqueue or interrupt.")] = "reject",
    follow: Annotated[
        bool, typer.Option("--follow/--detach", help="Show it live, or only print its id.")
    ] = True,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Start a run, and follow it. Ctrl+C stops following; the run goes on."""
    text = sys.stdin.read() if message == "-" else message
    made = {"screens": screen, "pages": page, "documents": document}
    chosen = [f"{noun}/{one}" for noun, one in made.items() if one]
    if len(chosen) + bool(thread) > 1:
        raise typer.BadParameter(
            "screens, pages and documents have their own thread: give one of --thread, --screen, --page, --document"
        )
    body: dict[str, Any] = {"content": text, "on_busy": on_busy, "model": model}
    if not thread and not chosen:
        body |= {"project_id": project, "profile": profile}
    sent = {name: value for name, value in body.items() if value is not None}

    async def work(client: "Client") -> int:
        its = (await client.get(f"/v1/{chosen[0]}"))["thread_id"] if chosen else thread
        path = f"/v1/threads/{its}/runs" if its else "/v1/runs"
        started = await client.post(path, sent, idempotency_key=uuid.uuid4().hex)
        if not follow:
            tell_json(started) if as_json else out.print(started["run_id"])
            return 0
        if not as_json:
            err.print(f"{started['run_id']} in {started['thread_id']}", style="dim")
        return await _follow(client, started["run_id"], str(started["cursor"]), as_json)

    raise typer.Exit(with_server(url, token, work))


@app.command()
def follow(
    run: RunArgument,
    after: Annotated[str, typer.Option(help="Cursor to go on from; 0: the beginning.")] = "0",
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Show a run from its beginning, then live, to its end."""
    code = with_server(url, token, lambda client: _follow(client, run, after, as_json))
    raise typer.Exit(code)


async def _follow(client: "Client", run: str, after: str, as_json: bool) -> int:
    from outlast.kernel.cli.run_output import follow_run

    return await follow_run(client, run, after, as_json=as_json)


@app.command()
def cancel(run: RunArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Stop a run. What it has done so far stays."""
    told = with_server(url, token, lambda client: client.post(f"/v1/runs/{run}/cancel"))
    out.print(f"{told['id']}: {told['status']}")


@app.command()
def resume(run: RunArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Wake a paused run's sandbox; the run waits for the decision again."""
    told = with_server(url, token, lambda client: client.post(f"/v1/runs/{run}/resume"))
    out.print(f"{told['id']}: {told['status']}")


@app.command()
def retry(run: RunArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Answer the same message again, in a new run."""
    out.print(with_server(url, token, lambda client: client.post(f"/v1/runs/{run}/retry"))["run_id"])


@app.command("continue")
def go_on(run: RunArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Go on from where a failed or cancelled run stopped, in a new run."""
    out.print(with_server(url, token, lambda client: client.post(f"/v1/runs/{run}/continue"))["run_id"])


@app.command()
def approve(
    approval: Annotated[str, typer.Argument(help="Id of the approval (apr_…).")],
    arguments: Annotated[str | None, typer.Option(help="JSON to call the tool with instead.")] = None,
    thread: Annotated[bool, typer.Option("--thread", help="Allow the same for the whole thread.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Allow a tool call that waits for a person."""
    body = {"decision": "approve", "arguments": arguments, "remember": "thread" if thread else None}
    _decide(approval, body, url, token)


@app.command()
def deny(
    approval: Annotated[str, typer.Argument(help="Id of the approval (apr_…).")],
    reason: Annotated[str, typer.Option(help="Told to the agent.")] = "",
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Refuse a tool call that waits for a person."""
    _decide(approval, {"decision": "deny", "reason": reason}, url, token)


def _decide(approval: str, body: dict[str, Any], url: str, token: str | None) -> None:
    sent = {name: value for name, value in body.items() if value is not None}
    told = with_server(url, token, lambda client: client.post(f"/v1/approvals/{approval}", sent))
    out.print(f"{told['id']}: {told['decision']}")


@app.command()
def answer(
    question: Annotated[str, typer.Argument(help="Id of the question (que_…).")],
    answers: Annotated[list[str], typer.Argument(help="ID=ANSWER, once for each question asked.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Answer what an agent asked."""
    pairs = dict(item.partition("=")[::2] for item in answers)
    told = with_server(
        url, token, lambda client: client.post(f"/v1/questions/{question}", {"answers": pairs})
    )
    out.print(f"{told['id']}: {told['decision']}")


@app.command("list")
def list_runs(
    project: Annotated[str | None, typer.Option(help="Only of this project.")] = None,
    thread: Annotated[str | None, typer.Option(help="Only of this thread.")] = None,
    status: Annotated[str | None, typer.Option(help="Only of this status.")] = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="Words to search for.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: JsonOption = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """The newest runs first."""
    found = with_server(
        url,
        token,
        lambda client: client.get(
            "/v1/runs", project=project, thread=thread, status=status, q=query, limit=limit
        ),
    )
    if as_json:
        tell_json(found)
        return
    rows = [
        (
            run["id"],
            run["status"],
            run["stop_reason"],
            run["model"],
            run["created_at"][:19],
            run["thread_title"][:40],
        )
        for run in found["items"]
    ]
    tell_rows(("run", "status", "reason", "model", "created", "thread"), rows, empty="No runs.")


@app.command()
def show(run: RunArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Everything about a run, as JSON."""
    tell_json(with_server(url, token, lambda client: client.get(f"/v1/runs/{run}")))


@app.command()
def export(
    run: RunArgument,
    file: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; without: standard output.")
    ] = None,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """A run with its whole log, as one JSON file."""
    content = with_server(url, token, lambda client: client.get(f"/v1/runs/{run}/export"))
    if file is None:
        tell_json(content)
        return
    file.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
    err.print(f"{file}: {file.stat().st_size:,} bytes")
