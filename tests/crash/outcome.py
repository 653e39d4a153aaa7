"""What a run left behind, without ids, times, numbers and attempts: the same whether it was killed or not."""

from __future__ import annotations

from typing import Any

import orjson
import sqlalchemy as sa

from outlast.apps.knowledge.tables import memories, modules
from outlast.apps.pages.rows import PageRow
from outlast.apps.pages.tables import page_versions, pages
from outlast.db.blobs.folder import FolderBlobs
from outlast.db.database import Database, Tx
from outlast.kernel.credits.rows import LedgerRow
from outlast.kernel.credits.tables import ledger
from outlast.kernel.runs.rows import ApprovalRow, EffectRow, FunctionStepRow, RunRow
from outlast.kernel.runs.tables import approvals, effects, function_steps, runs, timers
from outlast.kernel.sandboxes.checkpoints.contents import content_of
from outlast.kernel.sandboxes.rows import CheckpointRow
from outlast.kernel.sandboxes.tables import checkpoints, sandboxes
from outlast.kernel.streams.fold import RunFold, apply, fold_lines
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.rows import MessageRow, ThreadRow
from outlast.kernel.threads.tables import messages, threads
from outlast_sandbox.checkpoints.tree import decode
from tests.crash.scenario import Played, plain
from tests.crash.server import MONTH, CrashServer

PART_FIELDS = (
    "type",
    "step",
    "text",
    "call_id",
    "tool",
    "arguments",
    "status",
    "output",
    "result",
    "level",
    "code",
    "agent",
    *("base_version", "version", "patches", "whole", "refused"),
)


async def outcome_of(server: CrashServer, db: Database, played: Played) -> dict[str, Any]:
    """Everything that must be the same."""
    found = await db.read(_rows, played)
    workspace_id = found.pop("workspace_id")
    found["files"] = _files(server, workspace_id)
    found["kept"] = await _kept(server, db, workspace_id, played.run_id)
    text = plain(orjson.dumps(found, default=str).decode(), played)
    outcome: dict[str, Any] = orjson.loads(text)
    return outcome


def _rows(tx: Tx, played: Played) -> dict[str, Any]:
    run = tx.row(RunRow, sa.select(runs).where(runs.c.id == played.run_id))
    thread = tx.row(ThreadRow, sa.select(threads).where(threads.c.id == played.thread_id))
    assert run is not None
    assert thread is not None
    said = tx.rows(
        MessageRow, sa.select(messages).where(messages.c.thread_id == played.thread_id).order_by(messages.c.position)
    )
    done = tx.rows(EffectRow, sa.select(effects).where(effects.c.run_id == played.run_id).order_by(effects.c.ordinal))
    asked = tx.rows(
        ApprovalRow, sa.select(approvals).where(approvals.c.run_id == played.run_id).order_by(approvals.c.created_at)
    )
    paid = tx.rows(LedgerRow, sa.select(ledger).where(ledger.c.run_id == played.run_id).order_by(ledger.c.kind))
    machines = sa.select(sandboxes.c.state, sandboxes.c.pause_kind).where(
        sandboxes.c.workspace_id == thread.workspace_id, sandboxes.c.ended_at.is_(None)
    )
    shown = fold_lines(read_all(tx, played.run_id))
    clocks = sa.select(timers.c.kind).where(timers.c.subject_id == played.run_id).order_by(timers.c.kind)
    return {
        "workspace_id": thread.workspace_id,
        "run": _picked(run, *_RUN_FIELDS),
        "thread": _picked(thread, "title", "run_status", "active_run_id", "message_count"),
        "messages": [{**_picked(row, *_MESSAGE_FIELDS), "parts": parts_of(row.parts)} for row in said],
        "journal": [_effect(row) for row in done],
        "workflow": [[step[n] for n in ("name", "status", "detail")] for step in shown.workflow],
        "page": _page(tx, played),
        "steps": _steps(tx, played.run_id),
        "children": _children(tx, played.run_id),
        "approvals": [_picked(row, *_APPROVAL_FIELDS) for row in asked],
        "ledger": [(row.kind, row.credits) for row in paid],
        "sandboxes": [tuple(row) for row in tx.execute(machines)],
        "timers": list(tx.execute(clocks).scalars()),
    }


def _steps(tx: Tx, run_id: str) -> list[list[Any]]:
    """What the run's functions recorded, in the order of their calls."""
    rows = tx.rows(FunctionStepRow, sa.select(function_steps).where(function_steps.c.run_id == run_id))
    if any(row.path.startswith("@") for row in rows):  # of a guest: its messages have the times at which they were made
        units = {row.path: _without_times(orjson.loads(row.result or "null")) for row in rows}
        return [[path, value] for path, value in sorted(units.items())]
    ordered = sorted(rows, key=lambda row: [int(at) for at in row.path.split(".")])
    return [[row.path, row.name, row.kind, row.status, row.result, row.error, row.announced] for row in ordered]


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_times(one) for name, one in value.items() if name != "timestamp"}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


def _children(tx: Tx, run_id: str) -> list[dict[str, Any]]:
    """The runs that its functions started, in the order of their first messages."""
    started = sa.select(threads.c.id).where(threads.c.caller_run_id == run_id)
    found = tx.rows(RunRow, sa.select(runs).where(runs.c.thread_id.in_(started)))
    said = {row.id: row.parts[0]["text"] for row in tx.rows(MessageRow, sa.select(messages))}
    return [
        {**_picked(row, *_RUN_FIELDS), "profile": row.profile}
        for row in sorted(found, key=lambda row: str(said[row.message_id]))
    ]


def _page(tx: Tx, played: Played) -> dict[str, Any] | None:
    """The page that the thread is about: as it is, its history, and what was kept of the run. None: it has none."""
    page = tx.row(PageRow, sa.select(pages).where(pages.c.thread_id == played.thread_id))
    if page is None:
        return None
    history = sa.select(page_versions).where(page_versions.c.page_id == page.id).order_by(page_versions.c.version)
    saved = sa.select(modules).where(modules.c.page_id == page.id).order_by(modules.c.path)
    lines = sa.select(memories).where(memories.c.thread_id == played.thread_id)
    return {
        **_picked(page, "title", "version", "html", "problems"),
        "versions": [_picked(row, *_VERSION_FIELDS) for row in tx.execute(history)],
        "modules": [
            {**_picked(row, *_MODULE_FIELDS), "verified": row.verified_at is not None} for row in tx.execute(saved)
        ],
        "memories": [row.summary for row in tx.execute(lines)],
    }


_VERSION_FIELDS = ("version", "base_version", "kind", "patches", "html", "step", "summary")
_MODULE_FIELDS = ("scope", "path", "description", "exports", "usage", "hash", "content_hash")
_RUN_FIELDS = (
    *("status", "stop_reason", "problems", "error", "leg", "owner", "waiting_for", "cancel_reason", "credits"),
    *("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "unwatched_since", "paused_at"),
)
_MESSAGE_FIELDS = ("role", "status", "position", "model", "credits", "error", "stop_reason")
_APPROVAL_FIELDS = ("kind", "status", "tool", "arguments", "reason", "decision", "announced")


def _picked(row: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _effect(row: EffectRow) -> dict[str, Any]:
    same = _picked(row, "ordinal", "step", "kind", "tool", "status", "call_id", "arguments", "error")
    result = row.result
    if row.kind == "model":
        result = {name: value for name, value in (result or {}).items() if name not in ("pieces", "opaque")}
    return {**same, "result": result}


def parts_of(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: part[name] for name in PART_FIELDS if part.get(name) is not None} for part in parts]


def _files(server: CrashServer, workspace_id: str | None) -> dict[str, str]:
    folder = server.data_dir / "workspaces" / (workspace_id or "none")
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in found if not path.name.startswith(".")}


async def _kept(server: CrashServer, db: Database, workspace_id: str | None, run_id: str) -> dict[str, str]:
    """The files that the answer's checkpoint holds. Every checkpoint there is must be whole."""
    blobs = FolderBlobs(server.data_dir / "blobs")
    rows = await db.read(
        lambda tx: tx.rows(CheckpointRow, sa.select(checkpoints).where(checkpoints.c.workspace_id == workspace_id))
    )
    kept: dict[str, str] = {}
    for row in rows:
        tree = decode(blobs.get(row.tree), lambda name: decode(blobs.get(name)))
        files = {entry.path: content_of(blobs, entry) for entry in tree.entries if entry.kind == "file"}
        assert (len(files), sum(map(len, files.values()))) == (row.files, row.size_bytes)
        if row.message_id is not None and row.run_id == run_id:
            assert not kept, "an answer has one checkpoint"
            kept = {path: content.decode() for path, content in files.items()}
    return kept


def _is_streamed(event: dict[str, Any], seq: int, seen: dict[int, dict[str, Any]]) -> bool:
    """True for what may be shown before it is saved: a delta, or the part that a delta begins, if a reset of its step
    took it back."""
    if event["event"].endswith(".delta"):
        return True
    part = event["data"].get("part", {})
    return event["event"] == "part.created" and any(
        later["event"] == "step.reset"
        and later["data"]["step"] == part["step"]
        and part["id"] not in {kept["id"] for kept in later["data"]["parts"]}
        for number, later in seen.items()
        if number > seq
    )


async def check_followed(db: Database, played: Played) -> None:
    """The follower has seen what the log says: each fact once, under the number it has there, leading to the same
    state as a replay from the beginning and as the saved message."""
    lines = await db.read(read_all, played.run_id)
    logged = {seq: orjson.loads(line) for seq, line in lines}
    seen = dict(played.events)
    facts = {seq for seq, event in logged.items() if not event["event"].endswith(".delta")}
    assert facts <= seen.keys(), f"facts that the follower missed: {[logged[seq] for seq in facts - seen.keys()]}"
    for seq, event in logged.items():
        if seq in seen and seen[seq]["event"] != "part.snapshot":
            assert seen[seq] == event, f"number {seq} was given twice: {seen[seq]} and {event}"
    unsaved = {seq: event for seq, event in seen.items() if seq not in logged}
    facts_lost = {seq: event for seq, event in unsaved.items() if not _is_streamed(event, seq, seen)}
    assert not facts_lost, f"facts not in the log: {facts_lost}"
    replayed, followed = fold_lines(lines), played.fold()
    assert parts_of(followed.parts) == parts_of(replayed.parts)
    assert (followed.status, followed.pending, followed.ended) == (replayed.status, [], True)
    for event in logged.values():
        if event["event"] == "message.created" and event["data"]["message"]["role"] == "assistant":
            kept = [part for part in replayed.parts if part.get("text", "kept").strip()]
            assert parts_of(event["data"]["message"]["parts"]) == parts_of(kept)


def check_no_finished_step_again(played: Played) -> None:
    """A step whose turn and calls are all recorded is never taken back."""
    state, finished = RunFold(), 0
    for _, event in played.events:
        if event["event"] == "step.reset":
            assert event["data"]["step"] > finished, f"step {event['data']['step']} was finished and is reset"
        apply(state, event)
        if event["event"] == "step.started":
            finished = event["data"]["step"] - 1


async def check_ledger(db: Database) -> None:
    """The balance is what the settled runs cost, no hold is left, and every run has one of each."""
    rows = await db.read(lambda tx: tx.rows(LedgerRow, sa.select(ledger)))
    held = {str(row.run_id) for row in rows if row.kind == "reserve"}
    closed = [str(row.run_id) for row in rows if row.kind in ("settle", "release")]
    settled = [row for row in rows if row.kind == "settle"]
    assert sorted(closed) == sorted(held), "each hold is closed once"
    assert sum(row.credits for row in rows) == MONTH - 3 * len(settled)


async def check_no_leaks(server: CrashServer, db: Database) -> None:
    """Every sandbox process belongs to a living row."""
    rows = await db.read(
        lambda tx: set(tx.execute(sa.select(sandboxes.c.id).where(sandboxes.c.ended_at.is_(None))).scalars())
    )
    alive = {sandbox_id for sandbox_id, _ in await server.provider().list_refs()}
    assert alive == rows, f"sandboxes alive {alive}, recorded {rows}"


async def kill_sandbox(server: CrashServer, db: Database, played: Played) -> None:
    """End the run's sandbox through the server."""
    of_thread = sa.select(threads.c.workspace_id).where(threads.c.id == played.thread_id).scalar_subquery()
    living = sa.select(sandboxes.c.id).where(sandboxes.c.workspace_id == of_thread, sandboxes.c.ended_at.is_(None))
    for sandbox_id in await db.read(lambda tx: list(tx.execute(living).scalars())):
        status, body = await server.call("POST", f"/v1/sandboxes/{sandbox_id}/kill")
        assert status == 200, body
