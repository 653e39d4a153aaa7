"""A thread as its stream tells it: the reference for the thread half of `sdk/typescript/src/fold.ts`, on the same cases
(`contract/cases`). The server itself folds only runs."""

from dataclasses import dataclass, field, fields

from outlast.kernel.streams.fold import Json, RunFold, apply, put_by

_PAGE_MOVES = frozenset({"page.patch", "page.html"})
_EDIT_MOVES = frozenset({"edit.resolved", "edit.reopened", "edit.superseded"})


@dataclass(slots=True)
class ThreadFold:
    """A thread as its stream tells it: its own facts, and its runs by id. `messages` are ordered by position; `page` is
    `{page_id, version}` as last told, `actions` what people did on it, in order of first appearance, `proposals` what
    its agent proposes about a document, oldest first, as it is decided, `compaction` the summary of the oldest messages
    that its agent reads instead, `state` what its agents keep in it."""

    thread: Json | None = None
    lock: Json | None = None
    messages: list[Json] = field(default_factory=list)
    page: Json | None = None
    actions: list[Json] = field(default_factory=list)
    proposals: list[Json] = field(default_factory=list)
    compaction: Json | None = None
    state: Json | None = None
    runs: dict[str, RunFold] = field(default_factory=dict)


def apply_to_thread(state: ThreadFold, event: Json) -> None:
    """Fold one event of a thread's stream (its own log, interleaved with its runs' logs) into `state`."""
    name, data = event["event"], event["data"]
    if name in _PAGE_MOVES:
        state.page = {"page_id": data["page_id"], "version": data["version"]}
    if name == "message.created":
        _put_message(state, data["message"])
    elif name == "page.action":
        put_by(state.actions, data["action"], "id")
    elif name == "proposal.created" or name in _EDIT_MOVES:
        _fold_proposals(state.proposals, name, data)
    elif name == "thread.compacted":
        state.compaction = data["compaction"]
    elif name == "state.changed":
        state.state = _changed_state(state.state, data)
    elif name == "thread.updated":
        state.thread, state.lock = data["thread"], data["thread"]["lock"]
    elif name.startswith("lock."):
        state.lock = data["lock"]
        if state.thread is not None:
            state.thread = {**state.thread, "lock": data["lock"]}
    elif (run_id := run_of_event(event)) is not None:
        run = state.runs.get(run_id) or RunFold(run_id=run_id)
        before = _content(run)
        apply(run, event)
        if run_id in state.runs or _content(run) != before:
            state.runs[run_id] = run


def _fold_proposals(proposals: list[Json], name: str, data: Json) -> None:
    if name in _EDIT_MOVES:
        _put_edits(proposals, data["edits"])
    else:
        _put_proposal(proposals, data["proposal"])


def _changed_state(before: Json | None, change: Json) -> Json:
    """The state after a change. An older change than the last one is already in it."""
    if before is not None and change["revision"] <= before["revision"]:
        return before
    values = {} if before is None else before["values"]
    kept = {key: value for key, value in values.items() if key not in change["removed"]}
    return {"thread_id": change["thread_id"], "revision": change["revision"], "values": {**kept, **change["values"]}}


def run_of_event(event: Json) -> str | None:
    """Which run an event is about: the one it names, else the one whose log it lies in ("<log id>:<number>")."""
    named: str | None = event["data"].get("run_id")
    if named is not None:
        return named
    log_id = str(event["id"]).rpartition(":")[0]
    return log_id if log_id.startswith("run_") else None


def _content(run: RunFold) -> Json:
    """What the run shows, without where its log was read to."""
    return {column.name: getattr(run, column.name) for column in fields(run) if column.name != "last_seq"}


def _put_message(state: ThreadFold, message: Json) -> None:
    others = [known for known in state.messages if known["id"] != message["id"]]
    at = sum(1 for known in others if known["position"] <= message["position"])
    state.messages = [*others[:at], message, *others[at:]]


def _put_proposal(proposals: list[Json], told: Json) -> None:
    """Put the proposal in its place, by time. One that was told before keeps what was decided, and its answer."""
    known = next((one for one in proposals if one["id"] == told["id"]), None)
    before = {edit["id"]: edit for edit in ([] if known is None else known["edits"])}
    edits = [_newer(before.get(edit["id"]), edit) for edit in told["edits"]]
    answer = told["message_id"] or (None if known is None else known["message_id"])
    fresh = _stated({**told, "message_id": answer, "edits": edits})
    if known is not None:
        proposals[proposals.index(known)] = fresh
        return
    moment = fresh["created_at"], fresh["id"]
    at = sum(1 for one in proposals if (one["created_at"], one["id"]) <= moment)
    proposals.insert(at, fresh)


def _put_edits(proposals: list[Json], edits: list[Json]) -> None:
    """Edits as they are now, in the proposals that are known."""
    told = {edit["id"]: edit for edit in edits}
    for at, one in enumerate(proposals):
        if any(edit["id"] in told for edit in one["edits"]):
            after = [_newer(edit, told.get(edit["id"], edit)) for edit in one["edits"]]
            proposals[at] = _stated({**one, "edits": after})


def _newer(known: Json | None, told: Json) -> Json:
    """An edit that was decided stays so until it is reopened, whatever older news says."""
    return told if known is None or _age(told) >= _age(known) else known


def _age(edit: Json) -> tuple[int, bool]:
    return edit.get("reopened", 0), edit["state"] != "open"


def _stated(proposal: Json) -> Json:
    is_open = any(edit["state"] == "open" for edit in proposal["edits"])
    return {**proposal, "state": "open" if is_open else "closed"}
