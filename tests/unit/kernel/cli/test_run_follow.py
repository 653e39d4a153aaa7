"""Following a run in the terminal: what it asks is asked there, and withdrawn when somebody else answers."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest

from outlast.kernel.cli import run_follow
from outlast.kernel.cli.exits import Exit
from outlast.kernel.cli.run_follow import follow_run
from outlast.kernel.cli.terminal import err, out

APPROVAL = {"id": "apr_1", "tool": "terminal", "arguments": '{"command":"ls"}', "reason": "It lists files."}
QUESTIONS = [
    {"id": "colour", "question": "Which colour?", "options": ["red", "blue"], "multiple": False},
    {"id": "sizes", "question": "Which sizes?", "options": ["S", "M"], "multiple": True},
]
REQUESTED = {"event": "approval.requested", "data": {"approval": APPROVAL}}
RESOLVED = {"event": "approval.resolved", "data": {"approval_id": "apr_1"}}
ASKED = {"event": "question.asked", "data": {"question": {"id": "qst_1", "questions": QUESTIONS}}}
ANSWERED = {"event": "question.answered", "data": {"question_id": "qst_1"}}
END_OF_INPUT = b"\x04"
COMPLETED = {"event": "run.completed", "data": {"run_id": "run_1"}}


class Server:
    """One run that asks, waits until the answer comes or `answered_elsewhere`, and completes."""

    def __init__(self, asked: dict[str, Any], resolved: dict[str, Any], *, is_pending: bool = True) -> None:
        self.asked, self.resolved = asked, resolved
        self.pending = [{"id": "apr_1"}, {"id": "qst_1"}] if is_pending else []
        self.posted: list[tuple[str, Any]] = []
        self.answered = anyio.Event()

    async def follow(self, _path: str, _after: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        yield "1", self.asked
        if self.pending:
            await self.answered.wait()
        yield "2", self.resolved
        yield "3", COMPLETED

    async def get(self, _path: str) -> dict[str, Any]:
        return {"pending": self.pending}

    async def post(self, path: str, body: Any) -> None:
        self.posted.append((path, body))
        self.answered.set()


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    paper = io.StringIO()
    monkeypatch.setattr(out, "print", lambda *words, **_: print(*words, file=paper))
    monkeypatch.setattr(err, "print", lambda *words, **_: print(*words, file=paper))
    return paper


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Where the person types: the other end of a terminal."""
    write, read = pty.openpty()
    with os.fdopen(read) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setattr(run_follow, "can_ask", lambda: True)
        yield write
    os.close(write)


def follow(server: Server) -> Any:
    return follow_run(server, "run_1")  # type: ignore[arg-type]


async def test_a_run_that_was_handed_over_is_followed_by_the_one_that_goes_on(printed: io.StringIO) -> None:
    part = {"type": "handoff", "by": "Support", "title": "Billing", "reason": "Pay.", "run_id": "run_2"}
    failed = {"run_id": "run_2", "stop_reason": "provider", "error": {"message": "No.", "hint": ""}}
    logs = {
        "/v1/runs/run_1/events": [{"event": "part.completed", "data": {"part": part}}, COMPLETED],
        "/v1/runs/run_2/events": [{"event": "run.error", "data": failed}],
    }

    class Handing:
        async def follow(self, path: str, _after: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
            for event in logs[path]:
                yield "1", event

    assert await follow_run(Handing(), "run_1") is Exit.FAILED  # type: ignore[arg-type]
    assert "▸ Support handed over to Billing: Pay." in printed.getvalue()


@pytest.mark.parametrize(
    ("typed", "body"),
    [
        ("y\n", {"decision": "approve"}),
        ("t\n", {"decision": "approve", "remember": "thread"}),
        ("n\nToo risky.\n", {"decision": "deny", "reason": "Too risky."}),
    ],
)
async def test_a_decision_that_is_typed_is_sent(
    typed: str, body: dict[str, str], printed: io.StringIO, keyboard: int
) -> None:
    server = Server(REQUESTED, RESOLVED)
    os.write(keyboard, typed.encode())
    assert await follow(server) is Exit.OK
    assert server.posted == [("/v1/approvals/apr_1", body)]
    assert "It lists files." in printed.getvalue()


async def test_options_are_chosen_by_number_and_own_words_are_kept(printed: io.StringIO, keyboard: int) -> None:
    server = Server(ASKED, ANSWERED)
    os.write(keyboard, b"2\n1, XXL\n")
    assert await follow(server) is Exit.OK
    assert server.posted == [("/v1/questions/qst_1", {"answers": {"colour": "blue", "sizes": ["S", "XXL"]}})]


async def test_a_prompt_is_withdrawn_when_another_client_decides(
    printed: io.StringIO, keyboard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(REQUESTED, RESOLVED)

    async def ask_and_be_late(_question: str) -> str:
        server.answered.set()
        await anyio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(run_follow, "ask", ask_and_be_late)
    assert await follow(server) is Exit.OK
    assert server.posted == []


async def test_the_end_of_the_input_leaves_the_decision_open(
    printed: io.StringIO, keyboard: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(REQUESTED, RESOLVED)
    os.write(keyboard, END_OF_INPUT)
    show = err.print

    def show_and_decide_elsewhere(*words: Any, **style: Any) -> None:
        show(*words, **style)
        server.answered.set()

    monkeypatch.setattr(err, "print", show_and_decide_elsewhere)
    assert await follow(server) is Exit.OK
    assert server.posted == []
    assert "Decide with: outlast runs approve apr_1" in printed.getvalue()


async def test_without_a_person_at_the_terminal_following_ends(
    printed: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_follow, "can_ask", lambda: False)
    assert await follow(Server(ASKED, ANSWERED)) is Exit.WAITING
    assert "outlast runs answer qst_1" in printed.getvalue()


async def test_what_was_decided_long_ago_is_not_asked_again(printed: io.StringIO, keyboard: int) -> None:
    server = Server(REQUESTED, RESOLVED, is_pending=False)
    assert await follow(server) is Exit.OK
    assert server.posted == []
    assert "Allow" not in printed.getvalue()
