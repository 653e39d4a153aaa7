"""The run that is killed: text, reasoning, several tools, an approval, a question, credits; followed all the time.

The model's side is fixed by a directive in the user message and depends on nothing that a kill takes away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import anyio
import orjson

from outlast.base.ids import new_id
from outlast.kernel.streams.fold import RunFold, apply
from tests.crash.server import LOOK_S, UNAVAILABLE, CrashServer

PACE_S = 0.004
COUNT = "for n in 1 2 3 4; do echo line $n; echo $n >> lines.txt; sleep 0.1; done"
TURNS: list[dict[str, Any]] = [
    {
        "reasoning": "First the files, and a first command beside them.",
        "text": "I begin with two files.",
        "calls": [
            {
                "id": "call_files",
                "name": "create_or_update_files",
                "arguments": {
                    "files": [
                        {"path": "notes/plan.md", "content": "# Plan\n\nCount to four.\n"},
                        {"path": "main.py", "content": "print('hello')\n"},
                    ]
                },
            },
            {"id": "call_first", "name": "terminal", "arguments": {"command": "echo first | tee -a first.txt"}},
        ],
    },
    {"text": "Now I count.", "calls": [{"id": "call_count", "name": "terminal", "arguments": {"command": COUNT}}]},
    {
        "reasoning": "A calculation, kept in the session.",
        "calls": [
            {
                "id": "call_code",
                "name": "run_code",
                "arguments": {
                    "language": "python",
                    "code": "open('code.txt', 'a').write('ran\\n')\nanswer = 6 * 7\nprint('worked')\nanswer",
                },
            }
        ],
    },
    {
        "text": "I would like to clean up.",
        "calls": [
            {
                "id": "call_clean",
                "name": "terminal",
                "arguments": {"command": "rm -rf build; echo cleaned | tee -a cleaned.txt"},
            }
        ],
    },
    {
        "text": "One question before I finish.",
        "calls": [
            {
                "id": "call_ask",
                "name": "ask_user",
                "arguments": {"questions": [{"id": "tone", "question": "Which tone?", "options": ["dry", "warm"]}]},
            }
        ],
    },
    {
        "calls": [
            {
                "id": "call_read",
                "name": "read_files",
                "arguments": {"paths": ["lines.txt", "code.txt", "cleaned.txt", "main.py"]},
            }
        ]
    },
    {"reasoning": "All is there.", "text": "Done: counted to four, computed 42, cleaned up, in a dry tone."},
]
FILES = {
    "notes/plan.md": "# Plan\n\nCount to four.\n",
    "main.py": "print('hello')\n",
    "first.txt": "first\n",
    "lines.txt": "1\n2\n3\n4\n",
    "code.txt": "ran\n",
    "cleaned.txt": "cleaned\n",
}


@dataclass
class Played:
    """A run that was driven to its end, and what its follower saw."""

    run_id: str
    thread_id: str
    project_id: str
    marker: str
    events: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    cuts: int = 0  # connections that broke off

    def fold(self) -> RunFold:
        state = RunFold()
        for _, event in self.events:
            apply(state, event)
        return state


def message(marker: str, turns: list[dict[str, Any]], pace_s: float = PACE_S) -> str:
    """A user message that carries the model's turns. `marker` tells this run from the others."""
    paced = [{"delay_s": pace_s, **turn} for turn in turns]
    return f"Job {marker}: count, clean up, ask me. [[model {orjson.dumps(paced).decode()}]]"


async def play(server: CrashServer, turns: list[dict[str, Any]] | None = None, patience_s: float = 120.0) -> Played:
    """Start the run, follow it, decide what it asks, through any number of dead servers; returns when it has ended."""
    marker = new_id("request")[-8:]
    with anyio.fail_after(patience_s):
        thread_id = "" if server.page is None else await new_page(server, server.page, f"page-{marker}")
        played = await begin(server, marker, message(marker, turns or server.turns or TURNS), thread_id)
        async with anyio.create_task_group() as group:
            decided: set[str] = set()
            async for event in follow(server, played):
                for ask in asked(event, played, decided):
                    group.start_soon(_decide, server, ask)
    return played


async def begin(server: CrashServer, marker: str, content: str, thread_id: str = "") -> Played:
    """Start a run (once, however often it has to be asked)."""
    path = f"/v1/threads/{thread_id}/runs" if thread_id else "/v1/runs"
    status, body = await server.call("POST", path, {"content": content}, key=f"start-{marker}")
    assert status == 202, body
    thread = await server.get(f"/v1/threads/{body['thread_id']}")
    return Played(body["run_id"], body["thread_id"], thread["project_id"], marker)


async def new_page(server: CrashServer, html: str, key: str) -> str:
    """A page of its own; its thread's id."""
    project = (await server.get("/v1/projects"))["items"][0]
    status, page = await server.call("POST", f"/v1/projects/{project['id']}/pages", {"html": html}, key=key)
    assert status == 201, page
    return str(page["thread_id"])


async def follow(server: CrashServer, played: Played) -> Any:
    """Every event of the run, from wherever the last connection broke off, until its stream has ended."""
    assert server.client is not None
    while not played.events or played.events[-1][1]["event"] != "stream.ended":
        last = played.events[-1][0] if played.events else 0
        url = f"{server.url}/v1/runs/{played.run_id}/events"
        try:
            async with server.client.get(url, headers={"Last-Event-ID": str(last)}) as answer:
                if answer.status == UNAVAILABLE:
                    await anyio.sleep(LOOK_S)
                    continue
                assert answer.status == 200, f"{answer.status} after {last}: {await answer.text()}"
                async for event in _frames(answer):
                    seq = event["sequenceNumber"]
                    newest = played.events[-1][0] if played.events else 0
                    assert seq > newest, f"number {seq} came after {newest}: {event}"
                    played.events.append((seq, event))
                    yield event
        except (aiohttp.ClientError, ConnectionError):
            played.cuts += 1
            await server.revive()


async def _frames(answer: aiohttp.ClientResponse) -> Any:
    async for line in answer.content:
        if line.startswith(b"data: "):
            yield orjson.loads(line[6:])


def asked(event: dict[str, Any], played: Played, decided: set[str]) -> list[tuple[str, dict[str, Any]]]:
    """What is to be decided now that the run waits: each thing once."""
    waiting = event["event"] == "run.status" and event["data"]["status"] == "awaiting_approval"
    asks: list[tuple[str, dict[str, Any]]] = []
    for item in played.fold().pending if waiting else []:
        if item["id"] not in decided:
            decided.add(item["id"])
            if item["kind"] == "approval":
                asks.append((f"/v1/approvals/{item['id']}", {"decision": "approve", "reason": "go on"}))
            else:
                answers = {question["id"]: "dry" for question in item["questions"]}
                asks.append((f"/v1/questions/{item['id']}", {"answers": answers}))
    return asks


async def _decide(server: CrashServer, ask: tuple[str, dict[str, Any]]) -> None:
    status, body = await server.call("POST", *ask)
    # A decision whose answer was lost with the server counts; asked again, it says so.
    assert status == 200 or body["code"] == "approval_decided", body


def resets_of(played: Played) -> list[int]:
    return [event["data"]["step"] for _, event in played.events if event["event"] == "step.reset"]


def plain(text: str, played: Played) -> str:
    """Without what differs between any two runs."""
    for number, name in ((played.marker, "MARKER"), (played.run_id, "RUN"), (played.thread_id, "THREAD")):
        text = text.replace(number, name)
    return re.sub(r"\b(prt|eff|apr|que|msg|pag)_[0-9a-z]{26}\b", r"\1", text)
