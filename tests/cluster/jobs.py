"""What the cluster's runs do, and what each must have come to: known here before it starts, from its script alone."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import orjson

from outlast.base.ids import new_id
from tests.crash.scenario import Played

KINDS: Final = ("text", "tools", "approved", "denied")
PACE_S: Final = 0.04
TURN_WORDS: Final = (20, 60)  # of the text before a call
LONG_WORDS: Final = (60, 160)  # of a text alone


@dataclass
class Seen:
    """One follower of a job, and what it got. `problems`: what may never happen."""

    label: str
    played: Played
    problems: list[str] = field(default_factory=list)
    moved_at: float = 0.0  # when it last got an event
    moved_by: str = ""  # from which address
    longest_s: float = 0.0  # between two events

    @property
    def last(self) -> int:
        return self.played.events[-1][0] if self.played.events else 0

    @property
    def has_ended(self) -> bool:
        return bool(self.played.events) and self.played.events[-1][1]["event"] == "stream.ended"

    def take(self, event: dict[str, Any], address: str) -> None:
        number, now = event["sequenceNumber"], anyio.current_time()
        if number <= self.last:
            self.problems.append(f"number {number} after {self.last}, from {address}: {str(event)[:300]}")
            return
        self.longest_s = max(self.longest_s, now - self.moved_at)
        self.moved_at, self.moved_by = now, address
        self.played.events.append((number, event))


@dataclass
class Job:
    """One run. `effects`: the lines that its tools write into the ledger; `texts`: what it says, turn by turn."""

    kind: str
    marker: str
    turns: list[dict[str, Any]]
    texts: list[str]
    effects: list[str]
    decision: str = ""  # of the person whom it asks
    run_id: str = ""  # once its start was acknowledged
    started_at: float = 0.0
    decided: dict[str, str] = field(default_factory=dict)  # decisions that were acknowledged
    seen: list[Seen] = field(default_factory=list)

    @property
    def content(self) -> str:
        return f"Job {self.marker}. [[model {orjson.dumps(self.turns).decode()}]]"

    @property
    def has_ended(self) -> bool:
        return bool(self.seen) and all(one.has_ended for one in self.seen)

    def __str__(self) -> str:
        ends = ", ".join(f"{one.label}: {one.last}{' ended' if one.has_ended else ''}" for one in self.seen)
        return f"{self.kind} {self.marker} {self.run_id} ({ends})"


def new_job(chance: random.Random, ledger: str, pace_s: float = PACE_S) -> Job:
    """A job of a random kind and length, for a model that says a word each `pace_s`."""
    kind, marker = chance.choice(KINDS), new_id("request")[-10:]
    if kind == "text":
        said = _words(marker, 1, chance.randint(*LONG_WORDS))
        return Job(kind, marker, [_turn(said, pace_s)], [said], [])
    turns, texts, effects = [], [], []
    for number in range(1, chance.randint(1, 3) + 1):
        tool = "pay" if kind in ("approved", "denied") and number == 1 else "record"
        names = [f"{marker}-{number}-{at}" for at in range(1 if tool == "pay" else chance.randint(1, 2))]
        texts.append(_words(marker, number, chance.randint(*TURN_WORDS)))
        turns.append(_turn(texts[-1], pace_s, tool, names, ledger))
        if not (tool == "pay" and kind == "denied"):
            effects += names
    texts.append(_words(marker, len(texts) + 1, chance.randint(*TURN_WORDS)))
    decision = {"approved": "approve", "denied": "deny"}.get(kind, "")
    return Job(kind, marker, [*turns, _turn(texts[-1], pace_s)], texts, effects, decision)


def long_job(marker: str, words: int, pace_s: float, effect: tuple[str, str] = ("", "")) -> Job:
    """A job that says so many words; then, if `effect` names a ledger and a line, writes that and says a last word."""
    ledger, name = effect
    said = _words(marker, 1, words)
    if not name:
        return Job("long", marker, [_turn(said, pace_s)], [said], [])
    turns = [_turn(said, pace_s, "record", [name], ledger), _turn("Done.", pace_s)]
    return Job("long", marker, turns, [said, "Done."], [name])


def _words(marker: str, turn: int, count: int) -> str:
    return " ".join(f"{marker}.{turn}.{number}" for number in range(count))


def _turn(text: str, pace_s: float, tool: str = "", names: list[str] | None = None, ledger: str = "") -> dict[str, Any]:
    calls = [
        {"id": f"call_{name}", "name": tool, "arguments": {"ledger": ledger, "name": name}} for name in names or []
    ]
    return {"text": text, "calls": calls, "delay_s": pace_s}
