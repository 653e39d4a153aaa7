"""`POST /v1/agent/run`: a run started and waited for in one request. Over a real socket where connections matter."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest

from outlast.app import run_program
from outlast.base.errors import ModelKeyRefused
from outlast.db.database import Database, Tx
from outlast.kernel.accounts import store as accounts
from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.locks import store as locks
from outlast.kernel.runs.store import run_of
from outlast.kernel.settings import Settings
from outlast.kernel.settings.load import load_settings
from outlast.surfaces.http.application import create_http
from outlast.testing.scripted_model import HANG, Call, Fail, ScriptedModel, turn
from tests.asgi import Browser
from tests.factories import join, make_user
from tests.flow.documents.agent_rig import TEXT, DocumentAgent, document_agent, propose, replace_edit
from tests.flow.http.conftest import surface_over

DEMO = """
[providers.demo]
kind = "demo"
delta_delay_s = {delay}
[[models]]
id = "demo"
provider = "demo"
name = "demo"
[sandbox]
provider = "none"
"""
TIGHTEN = "Tighten this document"
ASKS = "Ask me what you need to know"


def body(thread_id: str, text: str = TIGHTEN, **more: Any) -> dict[str, Any]:
    context = {"threadId": thread_id, "projectId": "elsewhere", "messages": [{"senderType": "user", "content": "No."}]}
    return {"context": {**context, "anchoredContent": {"type": "section"}}, "userMessage": text, **more}


async def browser_of(it: DocumentAgent, db: Database) -> Browser:
    made = await db.write(accounts.add_token, it.owner.user_id, "test", None)
    app = create_http(surface_over(it.services, None), known_hosts("127.0.0.1", "", ()))
    return Browser(app, {"authorization": f"Bearer {made.token}"})


async def test_the_answer_has_the_message_the_edits_and_the_calls_with_the_names_of_seed_004(
    db: Database, tmp_path: Path
) -> None:
    model = ScriptedModel()
    async with document_agent(db, tmp_path, model) as it:
        browser, block = await browser_of(it, db), await it.block(0)
        call = propose(replace_edit(block, "We describe the plan."), summary="Shorter")
        model.add(turn("Let me see.", call), turn("I made it shorter."))
        answer = await browser.post("/v1/agent/run", body(it.thread_id))
        assert answer.status == 200, answer.body
        said = answer.json()
        (proposal,) = await it.proposals()
        assert said["message"] == "I made it shorter."
        (edit,) = said["proposedEdits"]
        assert edit == {
            "editId": proposal.edits[0].id,
            "op": "replace",
            "blockId": block.id,
            "sectionId": block.section_id,
            "afterId": None,
            "heading": None,
            "level": None,
            "oldText": block.markdown,
            "newText": "We describe the plan.",
        }
        (called,) = said["toolCalls"]
        assert (called["tool"], called["status"]) == ("propose_edits", "done")
        assert called["arguments"]["summary"] == "Shorter"
        assert (said["proposalId"], said["threadId"]) == (proposal.id, it.thread_id)
        assert said["messageId"] == (await it.messages())[-1].id
        assert "elsewhere" not in repr(model.requests[0].messages)  # the context is the server's own


async def test_a_run_that_fails_answers_with_its_own_error(db: Database, tmp_path: Path) -> None:
    refused = Fail(ModelKeyRefused("The key was refused."))
    async with document_agent(db, tmp_path, [turn(refused)]) as it:
        answer = await (await browser_of(it, db)).post("/v1/agent/run", body(it.thread_id))
        assert (answer.status, answer.code) == (502, "model_key_refused")
        assert answer.json()["fields"]["run_id"].startswith("run_")


async def test_it_is_refused_like_any_start(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn("Fine.")]) as it:
        browser = await browser_of(it, db)
        for wrong in ({}, {"userMessage": "x"}, {**body(it.thread_id), "timeoutS": 0}, {**body(it.thread_id), "x": 1}):
            assert (await browser.post("/v1/agent/run", wrong)).code == "malformed_input"
        assert (await browser.post("/v1/agent/run", body("thr_none"))).code == "not_found"
        assert (await browser.post("/v1/agent/run", body(it.thread_id, " "))).code == "empty_message"

        def lock(tx: Tx) -> None:
            other = make_user(tx, "Bob")
            join(tx, it.project_id, other, "editor")
            locks.acquire(tx, it.thread_id, it.project_id, other.user_id, 3600)

        await db.write(lock)
        answer = await browser.post("/v1/agent/run", body(it.thread_id))
        assert (answer.status, answer.code) == (409, "thread_locked")
        assert it.model.requests == []


async def test_a_run_that_waits_for_a_person_answers_202_and_the_same_key_waits_for_it_again(
    db: Database, tmp_path: Path
) -> None:
    question = Call("ask_user", {"questions": [{"id": "a", "question": "Which one?"}]})
    async with document_agent(db, tmp_path, [turn(question), turn("That one.")]) as it:
        browser = await browser_of(it, db)
        asked = body(it.thread_id, "Choose")
        waits = await browser.post("/v1/agent/run", asked, Idempotency_Key="one")
        assert waits.status == 202
        pending = waits.json()["pending"]
        assert (pending["kind"], pending["questions"][0]["question"]) == ("question", "Which one?")
        assert waits.json()["status"] == "awaiting_approval"
        again = await browser.post("/v1/agent/run", asked, Idempotency_Key="one")
        assert again.json() == waits.json()
        answered = await browser.post(f"/v1/questions/{pending['id']}", {"answers": {"a": "The first"}})
        assert answered.status == 200
        done = await browser.post("/v1/agent/run", asked, Idempotency_Key="one")
        assert (done.status, done.json()["message"]) == (200, "That one.")
        assert done.json()["runId"] == waits.json()["runId"]
        other = await browser.post("/v1/agent/run", body(it.thread_id, "Else"), Idempotency_Key="one")
        assert other.code == "idempotency_mismatch"


async def test_the_time_to_wait_may_be_over_before_the_run(db: Database, tmp_path: Path) -> None:
    async with document_agent(db, tmp_path, [turn("Let me think", HANG)]) as it:
        answer = await (await browser_of(it, db)).post("/v1/agent/run", body(it.thread_id, timeoutS=0.2))
        assert answer.status == 202
        assert answer.json()["pending"] is None
        assert answer.json()["status"] in ("queued", "running")
        assert (await db.read(run_of, answer.json()["runId"])).leg != "ended"


# --- over a real socket


class Server:
    """A program at a fixed address, started and stopped as often as a test wants."""

    def __init__(self, folder: Path, delay: float) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        file = folder / "outlast.toml"
        file.write_text(DEMO.format(delay=delay))
        flags: dict[str, Any] = {"server.port": self.port, "server.data_dir": str(folder / "data")}
        self.settings: Settings = load_settings(file, environ={}, flags=flags | {"server.stop_grace_s": 10})
        self.address = f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        ready, wished, ended = anyio.Event(), anyio.Event(), anyio.Event()

        async def run() -> None:
            await run_program(self.settings, lambda _address: ready.set(), http=True, asked_to_stop=wished.wait)
            ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await ready.wait()
            try:
                yield
            finally:
                wished.set()
            await ended.wait()


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def document(client: aiohttp.ClientSession, address: str) -> dict[str, Any]:
    async with client.get(f"{address}/v1/projects") as answer:
        items = (await answer.json())["items"]
    if not items:
        async with client.post(f"{address}/v1/projects", json={"name": "P"}) as answer:
            items = [await answer.json()]
    asked = {"title": "The plan", "markdown": TEXT}
    async with client.post(f"{address}/v1/projects/{items[0]['id']}/documents", json=asked) as answer:
        assert answer.status == 201, await answer.text()
        made: dict[str, Any] = await answer.json()
        return made


@pytest.mark.apps  # a whole server
async def test_a_caller_that_goes_away_leaves_the_run_going(client: aiohttp.ClientSession, tmp_path: Path) -> None:
    server = Server(tmp_path, delay=0.005)
    with anyio.fail_after(90):
        async with server.running():
            made = await document(client, server.address)
            url, asked = f"{server.address}/v1/agent/run", body(made["thread_id"])
            gone = aiohttp.ClientTimeout(total=0.3)
            with pytest.raises(TimeoutError):
                await client.post(url, json=asked, headers={"idempotency-key": "k"}, timeout=gone)
            async with client.post(url, json=asked, headers={"idempotency-key": "k"}) as answer:
                assert answer.status == 200, await answer.text()
                said = await answer.json()
            assert len(said["proposedEdits"]) >= 4
            async with client.get(f"{server.address}/v1/threads/{made['thread_id']}/messages") as answer:
                assert [m["role"] for m in (await answer.json())["items"]] == ["user", "assistant"]


@pytest.mark.apps  # a whole server
async def test_a_server_that_stops_lets_the_caller_go_and_the_next_one_gives_the_answer(
    client: aiohttp.ClientSession, tmp_path: Path
) -> None:
    server = Server(tmp_path, delay=0.02)
    found: list[tuple[int, dict[str, Any]]] = []
    key = {"idempotency-key": "k"}

    async def ask(asked: dict[str, Any]) -> None:
        async with client.post(f"{server.address}/v1/agent/run", json=asked, headers=key) as answer:
            found.append((answer.status, await answer.json()))

    with anyio.fail_after(90):
        async with anyio.create_task_group() as tasks, server.running():
            made = await document(client, server.address)
            asked = body(made["thread_id"])
            tasks.start_soon(ask, asked)
            await _started(client, server.address, made["thread_id"])
        ((status, said),) = found
        assert (status, said["pending"]) == (202, None)
        async with server.running():
            await ask(asked)
    assert found[1][0] == 200
    assert found[1][1]["runId"] == said["runId"]
    assert len(found[1][1]["proposedEdits"]) >= 4


async def _started(client: aiohttp.ClientSession, address: str, thread_id: str) -> None:
    """Until the thread's stream tells of a model's turn."""
    async with client.get(f"{address}/v1/threads/{thread_id}/events") as stream:
        async for line in stream.content:
            if b'"step.started"' in line:
                return
