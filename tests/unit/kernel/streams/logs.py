"""Generated run logs: any order of events that a run's writer could produce, with gaps between attempts.

They have events of pages too: their tests are marked with `pytest.mark.apps("pages")`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
from hypothesis import strategies as st

from outlast.apps.pages.shapes import PageHtml, PagePatched, Patch
from outlast.base.events import event_adapter
from outlast.kernel.apps import registry
from outlast.kernel.runs.shapes import (
    ApprovalData,
    ApprovalRequested,
    ApprovalResolved,
    Delta,
    PageStats,
    PartCarrier,
    QuestionAnswered,
    QuestionAsked,
    QuestionData,
    RunCancelled,
    RunQueued,
    RunReference,
    RunStarted,
    RunStatusChanged,
    StepCompleted,
    StepReset,
    StepStarted,
    ToolResultData,
    UsageData,
)
from outlast.kernel.streams.fold import RunFold, apply
from outlast.kernel.streams.log_store import Line, encode
from outlast.kernel.threads.parts import NoticePart, PagePart, ReasoningPart, TextPart, ToolCallPart

RUN = "run_" + "0" * 26
NOW = datetime(2030, 1, 1, tzinfo=UTC)
TEXTS = st.text(max_size=12)


@dataclass
class Log:
    """A log being written: its lines so far and what they fold to."""

    lines: list[Line] = field(default_factory=list)
    state: RunFold = field(default_factory=RunFold)
    seq: int = 0
    parts_made: int = 0

    def add(self, name: str, data: Any) -> None:
        self.seq += 1
        line = encode(RUN, self.seq, name, data, "2030-01-01T00:00:00.000Z")
        event_adapter(registry.load().events).validate_json(line)
        self.lines.append((self.seq, line))
        apply(self.state, orjson.loads(line))

    def mine(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Parts of the step under way."""
        parts = [part for part in self.state.parts if part["step"] == self.state.step]
        return [part for part in parts if kind is None or part["type"] == kind]


@st.composite
def logs(draw: st.DrawFn, most: int = 40) -> list[Line]:
    """The lines of one run's log, ended or not."""
    log = Log()
    queued: dict[str, Any] = {
        "thread_id": "thr_1",
        "message_id": "msg_1",
        "profile": "chat",
        "model": "m",
        "started_by": "usr_1",
    }
    log.add("run.queued", RunQueued(run_id=RUN, **queued))
    log.add("run.started", RunStarted(run_id=RUN, attempt=1))
    log.add("step.started", StepStarted(run_id=RUN, step=1, attempt=1))
    for _ in range(draw(st.integers(0, most))):
        draw(st.sampled_from(MOVES))(draw, log)
    if draw(st.booleans()):
        end = RunCancelled(run_id=RUN, message_id=None, stop_reason="user")
        log.add("run.cancelled", end)
        log.add("stream.ended", RunReference(run_id=RUN))
    return log.lines


def begin_part(draw: st.DrawFn, log: Log) -> None:
    log.parts_made += 1
    base: dict[str, Any] = {"id": f"prt_{log.parts_made}", "step": log.state.step}
    part: Any = draw(
        st.sampled_from(
            [
                TextPart(**base),
                ReasoningPart(**base),
                ToolCallPart(**base, call_id=f"call_{log.parts_made}", tool="look"),
                NoticePart(**base, code="note", text="Note."),
                PagePart(**base, page_id="page_1", base_version=0, version=1),
            ]
        )
    )
    log.add("part.created", PartCarrier(part=part))


def grow(draw: st.DrawFn, log: Log) -> None:
    """A few deltas in a row, of one part or of several at once, sometimes of one that is gone."""
    for _ in range(draw(st.integers(1, 5))):
        parts = [*log.mine(), {"id": "prt_gone", "type": "text"}]
        part = draw(st.sampled_from(parts))
        names = {"text": ["text.delta"], "reasoning": ["reasoning.delta"]}.get(
            part["type"], ["tool_call.arguments.delta", "tool_call.output.delta"]
        )
        log.add(draw(st.sampled_from(names)), Delta(part_id=part["id"], delta=draw(TEXTS)))


def complete(draw: st.DrawFn, log: Log) -> None:
    if parts := log.mine():
        part = dict(draw(st.sampled_from(parts)))
        if part["type"] == "tool_call":
            part["status"] = "pending"
        log.add(draw(st.sampled_from(["part.completed", "part.snapshot"])), {"part": part})


def give_result(draw: st.DrawFn, log: Log) -> None:
    if calls := log.mine("tool_call"):
        call = draw(st.sampled_from(calls))
        status = draw(st.sampled_from(["done", "error", "denied", "interrupted", "cancelled"]))
        given: dict[str, Any] = {"part_id": call["id"], "call_id": call["call_id"], "status": status}
        log.add("tool_call.result", ToolResultData(**given, result=draw(TEXTS), duration_s=0.5))


def ask(draw: st.DrawFn, log: Log) -> None:
    if calls := log.mine("tool_call"):
        call = draw(st.sampled_from(calls))
        base: dict[str, Any] = {"id": f"item_{call['id']}", "run_id": RUN, "thread_id": "thr_1", "part_id": call["id"]}
        base |= {"call_id": call["call_id"], "created_at": "2030-01-01T00:00:00.000Z"}
        if draw(st.booleans()):
            asked = ApprovalData(**base, tool="look", arguments=call["arguments"])
            log.add("approval.requested", ApprovalRequested(approval=asked))
        else:
            log.add("question.asked", QuestionAsked(question=QuestionData(**base, questions=[])))


def decide(draw: st.DrawFn, log: Log) -> None:
    given: dict[str, Any]
    if log.state.pending:
        item = draw(st.sampled_from(log.state.pending))
        if item["kind"] == "question":
            given = {"question_id": item["id"], "part_id": item["part_id"], "answers": {}}
            log.add("question.answered", QuestionAnswered(**given, cancelled=draw(st.booleans())))
        else:
            given = {"approval_id": item["id"], "part_id": item["part_id"]}
            given["decision"] = draw(st.sampled_from(["approve", "deny", "cancelled"]))
            given["arguments"] = draw(st.none() | TEXTS)
            log.add("approval.resolved", ApprovalResolved(**given))


def reset(draw: st.DrawFn, log: Log) -> None:
    """Another attempt: a gap in the numbers, and the step as it was saved, or nothing of it."""
    attempt = log.state.attempt + 1
    log.seq += draw(st.sampled_from([0, 1, 5000]))
    log.add("run.started", RunStarted(run_id=RUN, attempt=attempt))
    kept = [dict(part) for part in log.mine() if draw(st.booleans())]
    for part in kept:
        if part["type"] == "tool_call" and draw(st.booleans()):
            part["output"] = ""
    data = {"run_id": RUN, "step": log.state.step, "attempt": attempt, "parts": kept}
    log.add("step.reset", StepReset.model_validate(data))


def next_step(_draw: st.DrawFn, log: Log) -> None:
    usage = UsageData()
    log.add("step.completed", StepCompleted(run_id=RUN, step=log.state.step, finish="stop", usage=usage))
    log.add("step.started", StepStarted(run_id=RUN, step=log.state.step + 1, attempt=log.state.attempt))


def change_status(draw: st.DrawFn, log: Log) -> None:
    given: dict[str, Any] = draw(
        st.sampled_from(
            [
                {"status": "awaiting_approval", "waiting_for": "approval"},
                {"status": "paused", "waiting_for": "answer"},
                {"status": "running"},
                {"status": "running", "retry_at": "2030-01-01T00:00:05.000Z", "reason": "model_overloaded"},
            ]
        )
    )
    log.add("run.status", RunStatusChanged.model_validate({"run_id": RUN, **given}))


def change_page(draw: st.DrawFn, log: Log) -> None:
    """The page moves on, is taken back, or is counted."""
    version = log.state.page["version"] if log.state.page is not None else 0
    kind = draw(st.sampled_from(["patch", "html", "stats"]))
    if kind == "patch":
        patches = [Patch(op="text", at="#a", text=draw(TEXTS))]
        log.add("page.patch", PagePatched(page_id="page_1", base_version=version, version=version + 1, patches=patches))
    elif kind == "html":
        log.add("page.html", PageHtml(page_id="page_1", version=version // 2, html="", reason="reset"))
    else:
        counts = dict.fromkeys(PageStats.model_fields, 1) | {"page_id": "page_1", "run_id": RUN, "told": {}}
        log.add("page.stats", PageStats.model_validate(counts))


MOVES = [
    begin_part,
    begin_part,
    grow,
    grow,
    grow,
    complete,
    give_result,
    ask,
    decide,
    reset,
    next_step,
    change_status,
    change_page,
]
