"""What must hold for every run of the cluster at the end, compared with what is known outside of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from outlast.db.database import Database
from outlast.kernel.streams.fold import RunFold
from tests.cluster.jobs import Job, Seen
from tests.cluster.ledger import Ledger
from tests.crash.outcome import check_followed, check_no_finished_step_again


@dataclass
class Findings:
    """What was wrong, by kind; and what was counted."""

    problems: dict[str, list[str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, what: str) -> None:
        self.problems.setdefault(kind, []).append(what)

    def __str__(self) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
        lines = [f"{kind}: {len(found)}\n  " + "\n  ".join(found[:5]) for kind, found in self.problems.items()]
        return "\n".join([counts, *lines])


async def check_all(jobs: list[Job], ledger: Ledger, db: Database, findings: Findings) -> None:
    """Look at every job whose start was acknowledged."""
    written = ledger.counts()
    for job in jobs:
        findings.counts["runs"] += 1
        if not job.has_ended:
            findings.add("acknowledged runs that did not end", f"{job}")
            continue
        for seen in job.seen:
            findings.counts["cuts"] += seen.played.cuts
            findings.counts["events"] += len(seen.played.events)
            await _check_follower(job, seen, db, findings)
        _check_effects(job, ledger, written, findings)
    known = {name for job in jobs for name in job.effects}
    for name in written.keys() - known:  # of a run whose start was not acknowledged, or of a denied call
        if any(name.startswith(job.marker) for job in jobs):
            findings.add("denied calls that ran", name)
    for name, count in written.items():
        if count > 1:
            findings.add("tool effects doubled", f"{name}: {ledger.lines_of(name)}")


async def _check_follower(job: Job, seen: Seen, db: Database, findings: Findings) -> None:
    for problem in seen.problems:
        kind = "numbers backwards" if problem.startswith("number") else "followers refused"
        findings.add(kind, f"{job} {seen.label}: {problem}")
    state = seen.played.fold()
    findings.counts[f"ended {state.status}"] += seen is job.seen[0]
    if state.status != "completed":
        if seen is job.seen[0]:
            findings.add("runs that did not complete", f"{job}: {state.status} {_error_of(seen)}")
        return
    texts = _texts(state)
    if texts != job.texts:
        findings.add("followers with gaps or doubled text", f"{job} {seen.label}: {_difference(texts, job.texts)}")
    try:
        await check_followed(db, seen.played)
        check_no_finished_step_again(seen.played)
    except AssertionError as error:
        findings.add("followers that saw other than what is saved", f"{job} {seen.label}: {str(error)[:600]}")


def _check_effects(job: Job, ledger: Ledger, written: Counter[str], findings: Findings) -> None:
    """A call that the run says was made has its line. One that it says was cut off may have it or not."""
    calls = {part["call_id"]: part for part in job.seen[0].played.fold().parts if part["type"] == "tool_call"}
    for name in job.effects:
        call = calls.get(f"call_{name}")
        status = "missing" if call is None else call["status"]
        findings.counts[f"calls {status}"] += 1
        if status == "done" and written[name] == 0:
            findings.add("tool effects lost", f"{job}: {name}")
        if status not in ("done", "interrupted"):
            findings.add("calls that came to nothing", f"{job}: {name} {call}")


def _error_of(seen: Seen) -> str:
    """Why it ended so, as its last message says."""
    messages = [event["data"]["message"] for _, event in seen.played.events if event["event"] == "message.created"]
    starts = [event["data"] for _, event in seen.played.events if event["event"] == "run.started"]
    return f"{messages[-1].get('error') if messages else None}, attempts {len(starts)}"


def _texts(state: RunFold) -> list[str]:
    return [part["text"] for part in state.parts if part["type"] == "text" and part["text"].strip()]


def _difference(found: list[str], wanted: list[str]) -> str:
    """Where the words differ first, and by how much."""
    have, want = " ".join(found).split(), " ".join(wanted).split()
    same = [one == other for one, other in zip(have, want, strict=False)]
    at = same.index(False) if False in same else len(same)
    return f"{len(have)} words instead of {len(want)}; word {at}: {have[at : at + 4]} instead of {want[at : at + 4]}"
