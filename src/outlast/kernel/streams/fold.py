"""The meaning of events: a pure function from state and event to state, the twin of `sdk/typescript/src/fold.ts`.

Both run the cases in `contract/cases/`. Also here: `fold_deltas`, which shortens a run's log with an equal result.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import field, fields
from typing import Any, Final

import orjson

from outlast.base.records import dataclass
from outlast.kernel.streams.log_store import Line

DELTAS: Final = frozenset({"text.delta", "reasoning.delta", "tool_call.arguments.delta", "tool_call.output.delta"})
# The beginning of a delta, or of an event that replaces a whole part, as `encode` writes them.
_BEGIN: Final = re.compile(
    rb'{"id":"[^"]*","event":"(?:(?P<whole>part\.(?:completed|snapshot)","data":{"part":{"type":"\w+","id":")|'
    rb'(?:text|reasoning|tool_call\.arguments|tool_call\.output)\.delta","data":{"part_id":")(?P<part>[^"]+)"'
)
_PAGE_MOVES: Final = frozenset({"page.patch", "page.html"})
Json = dict[str, Any]


@dataclass(slots=True)
class RunFold:
    """A run as described by its events, with the events' own field names. `parts` and `pending` are plain dicts as in
    kernel/threads/parts.py, in order of creation; `workflow` has each named step once, as last shown, in order of first
    appearance; `page` is the state of the run's page, `{page_id, version, stats}` (without its HTML), `modules` the
    modules that it announced, as last shown; `last_seq` is the last number read from the log (0 if not from a log)."""

    run_id: str | None = None
    thread_id: str | None = None
    message_id: str | None = None  # the user's message that it answers
    answer_message_id: str | None = None
    profile: str | None = None
    model: str | None = None
    started_by: str | None = None
    after_run_id: str | None = None
    parent_run_id: str | None = None
    status: str = "queued"
    waiting_for: str | None = None
    retry_at: str | None = None
    reason: str | None = None
    attempt: int = 0
    step: int = 0
    workflow: list[Json] = field(default_factory=list)
    parts: list[Json] = field(default_factory=list)
    pending: list[Json] = field(default_factory=list)
    page: Json | None = None
    modules: list[Json] = field(default_factory=list)
    stop_reason: str | None = None
    problems: list[str] = field(default_factory=list)
    usage: Json | None = None
    credits: int | None = None
    error: Json | None = None
    ended: bool = False
    last_seq: int = 0

    def part(self, part_id: str) -> Json | None:
        return next((part for part in reversed(self.parts) if part["id"] == part_id), None)

    def step_of(self, name: str) -> str | None:
        """The status of a step of the workflow, or None if it has not begun."""
        return next((step["status"] for step in self.workflow if step["name"] == name), None)

    def put(self, part: Json) -> None:
        """Replace the part of this id, or add it."""
        put_by(self.parts, part, "id")


def apply(state: RunFold, event: Json) -> None:
    """Fold one event of a run into `state`. Events with unknown names change nothing."""
    name, data = event["event"], event["data"]
    state.last_seq = event["sequenceNumber"]
    if name in DELTAS:  # first: nearly all events are
        _grow(state, name, data)
    elif name.startswith("run."):
        _fold_status(state, name, data)
    elif name.startswith(("approval.", "question.")):
        _fold_waiting(state, name, data)
    elif name.startswith(("part.", "step.")):
        _fold_step(state, name, data)
    elif name == "tool_call.result":
        changes = {key: data[key] for key in ("status", "result", "duration_s")}
        _change_call(state, data["part_id"], changes)
    elif name == "workflow.step":
        put_by(state.workflow, data, "name")
    elif name in _PAGE_MOVES or name == "page.stats":
        _fold_page(state, name, data)
    elif name == "modules.saved":
        for module in data["modules"]:
            put_by(state.modules, module, "id")
    elif name == "stream.ended":
        state.ended = True


def _grow(state: RunFold, name: str, data: Json) -> None:
    part = state.part(data["part_id"])
    if part is None:
        return
    if part["type"] in ("text", "reasoning"):
        _append(part, "text", data["delta"])
    elif part["type"] == "tool_call":
        _append(part, "output" if name == "tool_call.output.delta" else "arguments", data["delta"])


def _append(part: Json, key: str, delta: str) -> None:
    """Lengthen a text. No other reference to it exists meanwhile, so that Python does not copy it: two megabytes in
    pieces of twelve characters took half a minute."""
    text: str = part[key]
    part[key] = ""
    text += delta
    part[key] = text


def _fold_step(state: RunFold, name: str, data: Json) -> None:
    if name == "part.created":
        state.retry_at = state.reason = None  # the wait before another try is over
        state.put(data["part"])
    elif name in ("part.completed", "part.snapshot"):
        state.put(data["part"])
    elif name in ("step.started", "step.reset"):
        state.retry_at = state.reason = None
        state.step, state.attempt = data["step"], data["attempt"]
        if name == "step.reset":
            kept = [part for part in state.parts if part["step"] != data["step"]]
            state.parts = kept + [dict(part) for part in data["parts"]]


def _fold_page(state: RunFold, name: str, data: Json) -> None:
    before = state.page["stats"] if state.page is not None else None
    stats = dict(data) if name == "page.stats" else before
    state.page = {"page_id": data["page_id"], "version": data["version"], "stats": stats}


def put_by(items: list[Json], item: Json, key: str) -> None:
    """Replace the item with the same key, or append it."""
    for index, old in enumerate(items):
        if old[key] == item[key]:
            items[index] = dict(item)
            return
    items.append(dict(item))


def _fold_waiting(state: RunFold, name: str, data: Json) -> None:
    if name in ("approval.requested", "question.asked"):
        kind = "approval" if name == "approval.requested" else "question"
        item = data[kind]
        state.pending = [p for p in state.pending if p["id"] != item["id"]] + [{"kind": kind, **item}]
        _change_call(state, item["part_id"], {"status": "waiting", "approval_id": item["id"]})
        return
    item_id = data["approval_id"] if name == "approval.resolved" else data["question_id"]
    state.pending = [p for p in state.pending if p["id"] != item_id]
    if name == "approval.resolved":
        status = {"approve": "pending", "deny": "denied", "cancelled": "cancelled"}[data["decision"]]
        edited = {} if data.get("arguments") is None else {"arguments": data["arguments"]}
        _change_call(state, data["part_id"], {"status": status, "decided_by": data.get("by"), **edited})
    else:
        status = "cancelled" if data["cancelled"] else "pending"
        _change_call(state, data["part_id"], {"status": status, "decided_by": data.get("by")})


def _fold_status(state: RunFold, name: str, data: Json) -> None:
    if name == "run.queued":
        fresh = RunFold(**data, last_seq=state.last_seq)
        for column in fields(fresh):
            setattr(state, column.name, getattr(fresh, column.name))
    elif name == "run.started":
        state.status, state.attempt = "running", data["attempt"]
        state.waiting_for = state.retry_at = state.reason = None
    elif name == "run.status":
        state.status, state.waiting_for = data["status"], data["waiting_for"]
        state.retry_at, state.reason = data["retry_at"], data["reason"]
    elif name in ("run.completed", "run.cancelled", "run.error"):
        _fold_end(state, name, data)


def _fold_end(state: RunFold, name: str, data: Json) -> None:
    state.status = name.removeprefix("run.")
    state.waiting_for = state.retry_at = state.reason = None
    state.pending = []
    state.answer_message_id, state.stop_reason = data["message_id"], data["stop_reason"]
    if name == "run.completed":
        state.problems, state.usage, state.credits = data["problems"], data["usage"], data["credits"]
    elif name == "run.error":
        state.error = data["error"]


def _change_call(state: RunFold, part_id: str, changes: Json) -> None:
    part = state.part(part_id)
    if part is not None and part["type"] == "tool_call":
        part.update(changes)


def fold_lines(lines: Sequence[Line]) -> RunFold:
    """The state that all these lines lead to. Nearly all of a long log are deltas of parts that a later event replaces
    whole: these are not read, which takes a tenth of the time."""
    state = RunFold()
    for line in without_replaced(lines):
        apply(state, orjson.loads(line))
    return state


def without_replaced(lines: Sequence[Line]) -> list[bytes]:
    """The lines that count for `fold_lines`."""
    replaced: set[bytes] = set()
    kept = []
    for _, line in reversed(lines):
        begin = _BEGIN.match(line)
        if begin is not None and begin["whole"]:
            replaced.add(begin["part"])
        elif begin is not None and begin["part"] in replaced:
            continue
        kept.append(line)
    return kept[::-1]


def fold_deltas(lines: Iterable[Line]) -> list[Line]:
    """The same log with its deltas folded: from any cursor, folding the rest gives the same state as before.

    Facts stay unchanged. A part's deltas become one `part.snapshot` in the place of the last delta, or nothing if a
    later fact replaces the whole part. `lines` must begin at the log's start.
    """
    state = RunFold()
    kept: dict[int, bytes] = {}
    open_deltas: dict[str, Json] = {}  # part id: its last delta since the last fact
    snapshot_at: dict[str, int] = {}  # part id: number of the line that holds its snapshot
    for seq, line in lines:
        event = orjson.loads(line)
        name, data = event["event"], event["data"]
        if name in DELTAS:
            open_deltas[data["part_id"]] = event
        else:
            _write_snapshots(state, open_deltas, snapshot_at, kept)
            kept[seq] = line
        apply(state, event)
        for part_id in _replaced_parts(name, data, snapshot_at, state):
            kept.pop(snapshot_at.pop(part_id))
    _write_snapshots(state, open_deltas, snapshot_at, kept)
    return sorted(kept.items())


def _write_snapshots(
    state: RunFold, open_deltas: dict[str, Json], snapshot_at: dict[str, int], kept: dict[int, bytes]
) -> None:
    """Turn the deltas since the last fact into one snapshot per part; an older snapshot of the part is removed."""
    for part_id, event in open_deltas.items():
        part = state.part(part_id)
        if part is not None:
            kept.pop(snapshot_at.get(part_id, -1), None)
            snapshot_at[part_id] = event["sequenceNumber"]
            kept[event["sequenceNumber"]] = orjson.dumps({**event, "event": "part.snapshot", "data": {"part": part}})
    open_deltas.clear()


def _replaced_parts(name: str, data: Json, snapshots: dict[str, int], state: RunFold) -> list[str]:
    if name in ("part.completed", "part.snapshot"):
        return [part_id for part_id in (data["part"]["id"],) if part_id in snapshots]
    if name == "step.reset":
        alive = {part["id"] for part in state.parts}
        fresh = {part["id"] for part in data["parts"]}
        return [part_id for part_id in snapshots if part_id not in alive or part_id in fresh]
    return []
