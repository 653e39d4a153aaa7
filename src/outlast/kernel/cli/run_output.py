"""Following a run to its end, answering what it asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from outlast.base.errors import ApprovalDecided, OutlastError
from outlast.kernel.cli.client import Client
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.prompts import ask
from outlast.kernel.cli.run_text import Rendering, shorten
from outlast.kernel.cli.session import command_line, wants_json
from outlast.kernel.cli.terminal import can_ask, err, out, print_error, print_json_line, styled

ENDED = {"run.completed": Exit.OK, "run.error": Exit.FAILED, "run.cancelled": Exit.CANCELLED}


@dataclass(slots=True)
class _Follow:
    client: Client
    run_id: str
    rendering: Rendering = field(default_factory=Rendering)
    exit: Exit = Exit.OK
    asking: dict[str, anyio.CancelScope] = field(default_factory=dict)


async def follow_run(client: Client, run_id: str, after: str = "0") -> Exit:
    """Show the run from a cursor to its end, however often the connection breaks; the exit code says how it ended."""
    state = _Follow(client, run_id)
    async with anyio.create_task_group() as tasks:
        async for _, event in client.follow(f"/v1/runs/{run_id}/events", after):
            _show(state.rendering, event)
            state.exit = ENDED.get(event["event"], state.exit)
            if await _ask_about(state, event, tasks) is Exit.WAITING:
                state.exit = Exit.WAITING
                break
        tasks.cancel_scope.cancel()
    return state.exit


def _show(rendering: Rendering, event: Mapping[str, Any]) -> None:
    if wants_json():
        print_json_line(event)
    else:
        rendering.show(event)


async def _ask_about(state: _Follow, event: dict[str, Any], tasks: anyio.abc.TaskGroup) -> Exit | None:
    name, data = event["event"], event["data"]
    if name in ("approval.requested", "question.asked"):
        item = data["approval"] if name == "approval.requested" else data["question"]
        if not await _is_open(state, item["id"]):
            return None
        if wants_json() or not can_ask():
            command = command_line(
                f"runs {'approve' if name == 'approval.requested' else 'answer'} {item['id']}"
            )
            err.print(styled(("Waiting for a person:", "yellow"), f" {command}"))
            return Exit.WAITING
        tasks.start_soon(_decide if name == "approval.requested" else _answer, state, item)
    elif name in ("approval.resolved", "question.answered"):
        scope = state.asking.pop(data.get("approval_id") or data.get("question_id"), None)
        if scope is not None:
            scope.cancel()
    return None


async def _is_open(state: _Follow, item_id: str) -> bool:
    """Whether it still waits: a replayed one may have been decided long ago."""
    run = await state.client.get(f"/v1/runs/{state.run_id}")
    return any(item["id"] == item_id for item in run["pending"])


async def _decide(state: _Follow, approval: dict[str, Any]) -> None:
    approval_id = approval["id"]
    state.rendering.line()
    out.print(styled(("?", "yellow"), " ", (approval["tool"], "bold"), f" {shorten(approval['arguments'])}"))
    if approval["reason"]:
        out.print(f"  {approval['reason']}", style="dim")
    with anyio.CancelScope() as scope:
        state.asking[approval_id] = scope
        try:
            word = (await ask("  Allow it? [y]es, [n]o, [t]his thread always:")).lower()
            body: dict[str, Any] = {"decision": "approve" if word[:1] in ("y", "t") else "deny"}
            if word.startswith("t"):
                body["remember"] = "thread"
            elif body["decision"] == "deny":
                body["reason"] = await ask("  Why not? (empty: no reason)")
            await _send(state, f"/v1/approvals/{approval_id}", body)
        except EOFError:
            err.print(
                f"Not decided. Decide with: {command_line(f'runs approve {approval_id}')}", style="yellow"
            )
    if scope.cancelled_caught:
        out.print("\n  Decided by somebody else.", style="dim")


async def _answer(state: _Follow, question: dict[str, Any]) -> None:
    question_id = question["id"]
    state.rendering.line()
    answers: dict[str, Any] = {}
    with anyio.CancelScope() as scope:
        state.asking[question_id] = scope
        try:
            for item in question["questions"]:
                answers[item["id"]] = await _answer_one(item)
            await _send(state, f"/v1/questions/{question_id}", {"answers": answers})
        except EOFError:
            err.print(
                f"Not answered. Answer with: {command_line(f'runs answer {question_id}')}", style="yellow"
            )
    if scope.cancelled_caught:
        out.print("\n  Answered by somebody else.", style="dim")


async def _answer_one(item: dict[str, Any]) -> str | list[str]:
    out.print(styled(("?", "yellow"), f" {item['question']}"))
    for number, option in enumerate(item["options"], start=1):
        out.print(f"  {number}. {option}")
    typed = await ask(
        "  Your answer:" if not item["options"] else "  Your answer (a number or your own words):"
    )
    words = [word.strip() for word in typed.split(",")] if item["multiple"] else [typed]
    chosen = [
        item["options"][int(word) - 1] if word.isdigit() and 0 < int(word) <= len(item["options"]) else word
        for word in words
    ]
    return chosen if item["multiple"] else chosen[0]


async def _send(state: _Follow, path: str, body: dict[str, Any]) -> None:
    try:
        await state.client.post(path, body)
    except ApprovalDecided:
        out.print("  Decided by somebody else.", style="dim")
    except OutlastError as error:
        print_error(error)
