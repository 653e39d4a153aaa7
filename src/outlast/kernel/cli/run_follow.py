"""Follows a run in the terminal, and prompts the user for approvals and answers."""

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final

import anyio

from outlast.base.errors import ApprovalDecided, OutlastError
from outlast.base.records import dataclass
from outlast.kernel.cli.client import Client
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.run_text import Rendering, shorten
from outlast.kernel.cli.session import command_line, wants_json
from outlast.kernel.cli.terminal import can_ask, err, out, print_error, print_json_line, styled

EXIT_CODES: Final = {"run.completed": Exit.OK, "run.error": Exit.FAILED, "run.cancelled": Exit.CANCELLED}


@dataclass(slots=True)
class _FollowedRun:
    """`prompts`: the open prompts by the id of their approval or question."""

    client: Client
    run_id: str
    rendering: Rendering = field(default_factory=Rendering)
    prompts: dict[str, anyio.CancelScope] = field(default_factory=dict)


async def follow_run(client: Client, run_id: str, after: str = "0") -> Exit:
    """Print the events of a run after a cursor until it ends, then those of the run that it was handed over to; a
    broken connection is reopened. The exit code says how the last run ended, or is `WAITING` if it waits for a person
    and the terminal is not interactive."""
    exit_code, following = await _follow_one(client, run_id, after)
    while following is not None and exit_code is Exit.OK:
        exit_code, following = await _follow_one(client, following, "0")
    return exit_code


async def _follow_one(client: Client, run_id: str, after: str) -> tuple[Exit, str | None]:
    """The exit code, and the run of another agent that goes on."""
    run, exit_code = _FollowedRun(client, run_id), Exit.OK
    following: str | None = None
    async with anyio.create_task_group() as tasks:
        async for _, event in client.follow(f"/v1/runs/{run_id}/events", after):
            if wants_json():
                print_json_line(event)
            else:
                run.rendering.show(event)
            exit_code = EXIT_CODES.get(event["event"], exit_code)
            following = _successor_in(event) or following
            _close_prompt(run, event)
            if not await _open_prompt(run, event, tasks):
                exit_code = Exit.WAITING
                break
        tasks.cancel_scope.cancel()  # otherwise an open prompt would wait for the terminal
    return exit_code, following


def _successor_in(event: Mapping[str, Any]) -> str | None:
    """The run that this event's part hands the conversation over to, or None if it does not."""
    part = event["data"].get("part", {})
    run_id: str | None = part["run_id"] if part.get("type") == "handoff" else None
    return run_id


async def _open_prompt(run: _FollowedRun, event: Mapping[str, Any], tasks: anyio.abc.TaskGroup) -> bool:
    """Prompt for the approval or answer that this event requests, in a task. False if the terminal is not
    interactive."""
    match event:
        case {"event": "approval.requested", "data": {"approval": item}}:
            prompt, verb = _decide, "approve"
        case {"event": "question.asked", "data": {"question": item}}:
            prompt, verb = _answer, "answer"
        case _:
            return True
    if not await _is_pending(run, item["id"]):
        return True
    if wants_json() or not can_ask():
        command = command_line(f"runs {verb} {item['id']}")
        err.print(styled(("Waiting for a person:", "yellow"), f" {command}"))
        return False
    tasks.start_soon(prompt, run, item)
    return True


def _close_prompt(run: _FollowedRun, event: Mapping[str, Any]) -> None:
    """Close the prompt of an approval or question that was decided, here or elsewhere."""
    if event["event"] in ("approval.resolved", "question.answered"):
        data = event["data"]
        scope = run.prompts.pop(data.get("approval_id") or data.get("question_id"), None)
        if scope is not None:
            scope.cancel()


async def _is_pending(run: _FollowedRun, item_id: str) -> bool:
    """True if the run still waits for this item. A replayed event can be about an item that was answered long ago."""
    found = await run.client.get(f"/v1/runs/{run.run_id}")
    return any(item["id"] == item_id for item in found["pending"])


@contextmanager
def _prompt(run: _FollowedRun, item_id: str, unanswered: str, elsewhere: str) -> Iterator[None]:
    """Prompt the user inside this block. Prints `unanswered` when the input ends first, and `elsewhere` when another
    client answers first."""
    with anyio.CancelScope() as scope:
        run.prompts[item_id] = scope
        try:
            yield
        except EOFError:
            err.print(unanswered, style="yellow")
    if scope.cancelled_caught:
        out.print(f"\n  {elsewhere}", style="dim")


async def _decide(run: _FollowedRun, item: Mapping[str, Any]) -> None:
    approval_id = item["id"]
    run.rendering.line()
    out.print(styled(("?", "yellow"), " ", (item["tool"], "bold"), f" {shorten(item['arguments'])}"))
    if item["reason"]:
        out.print(f"  {item['reason']}", style="dim")
    unanswered = f"Not decided. Decide with: {command_line(f'runs approve {approval_id}')}"
    with _prompt(run, approval_id, unanswered, "Another user decided it."):
        word = (await ask("  Allow it? [y]es, [n]o, [t]his thread always:")).lower()
        body: dict[str, Any] = {"decision": "approve" if word[:1] in ("y", "t") else "deny"}
        if word.startswith("t"):
            body["remember"] = "thread"
        elif body["decision"] == "deny":
            body["reason"] = await ask("  Why not? (leave empty for no reason)")
        await _send(run, f"/v1/approvals/{approval_id}", body)


async def _answer(run: _FollowedRun, item: Mapping[str, Any]) -> None:
    question_id = item["id"]
    run.rendering.line()
    unanswered = f"Not answered. Answer with: {command_line(f'runs answer {question_id}')}"
    with _prompt(run, question_id, unanswered, "Another user answered it."):
        answers = {question["id"]: await _answer_one(question) for question in item["questions"]}
        given = {name: answer for name, answer in answers.items() if answer not in ("", [""])}
        await _send(run, f"/v1/questions/{question_id}", {"answers": given})


async def _answer_one(question: Mapping[str, Any]) -> str | list[str]:
    """The user's answer: the text of the option with the typed number, or their own words; for a question with several
    answers, a list that is split at commas."""
    options = question["options"]
    out.print(styled(("?", "yellow"), f" {question['question']}"))
    if question.get("url"):  # a question of an earlier version has none
        out.print(f"  {question['url']}")
    for number, option in enumerate(options, start=1):
        out.print(f"  {number}. {option}")
    how = "a number" if question.get("closed") else "a number or your own words"
    typed = await ask(f"  Your answer ({how}):" if options else "  Your answer:")
    if not question["multiple"]:
        return _chosen(options, typed)
    return [_chosen(options, word.strip()) for word in typed.split(",")]


def _chosen(options: Sequence[str], word: str) -> str:
    is_number = word.isdigit() and 0 < int(word) <= len(options)
    return options[int(word) - 1] if is_number else word


async def _send(run: _FollowedRun, path: str, body: Mapping[str, Any]) -> None:
    try:
        await run.client.post(path, body)
    except ApprovalDecided:
        out.print("  Another user decided it.", style="dim")
    except OutlastError as error:
        print_error(error)


async def ask(question: str) -> str:
    """The line that the user types. If cancelled, the prompt is withdrawn, and typed text stays for later prompts."""
    out.print(styled((question, "bold"), " "), end="")
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        line = sys.stdin.readline()
        if not typed.done():
            typed.set_result(line)

    loop.add_reader(sys.stdin.fileno(), read)
    try:
        line = await typed
    finally:
        loop.remove_reader(sys.stdin.fileno())
    if not line:
        raise EOFError
    return line.strip()
