"""A document's agent and its reviewer on a real server, with a model behind OpenAI's wire format, killed at named and
random commits: exactly one proposal, shown once, and a version whole or not at all."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import orjson
import pytest
import sqlalchemy as sa

from outlast.apps.documents.tables import proposals
from outlast.db.database import Database, Tx
from outlast.kernel.streams.fold import fold_lines
from outlast.kernel.streams.log_store import read_all
from tests.crash.conftest import MakeServer
from tests.crash.crash_database import CrashPoint
from tests.crash.kills import BY_THE_CLOCK, SEED_VARIABLE, opened, points_of, seed_of_this_run
from tests.crash.outcome import check_ledger
from tests.crash.server import CrashServer, until

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(1800)]
PATIENCE_S = 120.0
TEXT = "# One\n\nFirst words.\n\nSecond words.\n\n# Two\n\nThird words.\n\nFourth words.\n"
OPS = ("replace", "replace", "delete", "insert")


@dataclass
class Scene:
    """A server with a database beside it, and one document."""

    server: CrashServer
    db: Database
    project_id: str

    async def document(self) -> dict[str, Any]:
        asked = {"title": "Plan", "markdown": TEXT}
        status, made = await self.server.call("POST", f"/v1/projects/{self.project_id}/documents", asked)
        assert status == 201, made
        return dict(made)

    async def propose(self, document: dict[str, Any], key: str) -> dict[str, Any]:
        """A run that proposes something stale, is told, mends it, and has ended."""
        asked = {"content": f"Make it better. [[model {orjson.dumps(turns(document)).decode()}]]"}
        path = f"/v1/threads/{document['thread_id']}/runs"
        status, started = await self.server.call("POST", path, asked, key=key)
        assert status == 202, started
        found: dict[str, Any] = {}

        async def ended() -> bool:
            found.update(await self.server.get(f"/v1/runs/{started['run_id']}"))
            return found["status"] in ("completed", "error", "cancelled")

        with anyio.fail_after(PATIENCE_S):
            await until(ended)
        assert found["status"] == "completed", found["error"]
        return found


def turns(document: dict[str, Any]) -> list[dict[str, Any]]:
    first, second, third, fourth = [block for one in document["sections"] for block in one["blocks"]]

    def edits(old: str) -> list[dict[str, Any]]:
        return [
            {"op": "replace", "block_id": first["id"], "old_text": old, "new_text": "Better first words."},
            {"op": "replace", "block_id": second["id"], "old_text": second["markdown"], "new_text": "A.\n\nB."},
            {"op": "delete", "block_id": third["id"], "old_text": third["markdown"]},
            {"op": "insert", "section_id": fourth["section_id"], "new_text": "Begins here."},
        ]

    def call(name: str, old: str) -> dict[str, Any]:
        return {"id": name, "name": "propose_edits", "arguments": {"summary": "Better", "edits": edits(old)}}

    return [
        {"text": "I propose:", "calls": [call("call_stale", "Never said.")]},
        {"text": "Once more:", "calls": [call("call_right", first["markdown"])]},
        {"text": "Have a look."},
    ]


@asynccontextmanager
async def scene_of(server: CrashServer) -> AsyncIterator[Scene]:
    async with opened(server) as db:
        items = (await server.get("/v1/projects"))["items"]
        if not items:
            items = [(await server.call("POST", "/v1/projects", {"name": "Documents"}))[1]]
        yield Scene(server, db, items[0]["id"])


async def check_proposed(scene: Scene, document: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """Exactly one proposal, whole, in every place that shows it. The proposal."""
    (proposal,) = (await scene.server.get(f"/v1/documents/{document['id']}/proposals?state=all"))["items"]
    assert [edit["op"] for edit in proposal["edits"]] == list(OPS)
    assert {edit["state"] for edit in proposal["edits"]} == {"open"}
    assert (proposal["run_id"], proposal["message_id"]) == (run["id"], run["answer_message_id"])
    kinds = [part["type"] for part in run["parts"]]
    assert kinds == ["text", "tool_call", "text", "tool_call", "proposal", "text"]
    assert run["parts"][4]["proposal_id"] == proposal["id"]
    assert [part["status"] for part in run["parts"] if part["type"] == "tool_call"] == ["error", "done"]
    replayed = fold_lines(await scene.db.read(read_all, run["id"]))
    assert [part["type"] for part in replayed.parts] == kinds
    logged = await scene.db.read(read_all, document["thread_id"])
    assert sum(b'"proposal.created"' in body for _, body in logged) == 1
    assert (await scene.server.get(f"/v1/documents/{document['id']}"))["version"] == document["version"]
    await check_ledger(scene.db)
    return dict(proposal)


async def check_accepted(scene: Scene, document: dict[str, Any], proposal: dict[str, Any]) -> None:
    """The version is whole: every edit in it, made once."""
    now = await scene.server.get(f"/v1/documents/{document['id']}")
    assert now["version"] == document["version"] + 1
    texts = [block["markdown"] for section in now["sections"] for block in section["blocks"]]
    assert texts == ["Better first words.", "A.", "B.", "Begins here.", "Fourth words."]
    versions = (await scene.server.get(f"/v1/documents/{document['id']}/versions"))["items"]
    assert [one["kind"] for one in versions].count("agent") == 1
    after = await scene.server.get(f"/v1/proposals/{proposal['id']}")
    assert {edit["state"] for edit in after["edits"]} == {"accepted"}
    logged = await scene.db.read(read_all, scene.project_id)
    assert sum(b'"edit.resolved"' in body and proposal["id"].encode() in body for _, body in logged) == 1


async def accept(scene: Scene, proposal: dict[str, Any], key: str) -> None:
    status, answer = await scene.server.call("POST", f"/v1/proposals/{proposal['id']}/accept", {}, key=key)
    assert status == 200, answer


async def killed_at(scene: Scene, point: CrashPoint, number: int) -> bool:
    """One document through proposing and accepting, with a kill at this commit. Whether it came to it."""
    document = await scene.document()
    starts = scene.server.starts
    accepting = "_decide" in point.label
    if not accepting:
        scene.server.arm(point)
    run = await scene.propose(document, f"run{number}")
    proposal = await check_proposed(scene, document, run)
    if accepting:
        scene.server.arm(point)
    await accept(scene, proposal, f"accept{number}")
    await check_accepted(scene, document, proposal)
    scene.server.point_file.unlink(missing_ok=True)
    return scene.server.starts > starts


async def undisturbed(scene: Scene) -> list[CrashPoint]:
    """Every commit of proposing and accepting, with both its sides."""
    before = len(scene.server.commits())
    document = await scene.document()
    proposal = await check_proposed(scene, document, await scene.propose(document, "first"))
    await accept(scene, proposal, "first accept")
    await check_accepted(scene, document, proposal)
    commits = [label for label in scene.server.commits()[before:] if "create_document" not in label]
    return [point for point in points_of(commits) if not BY_THE_CLOCK.search(point.label)]


def chosen_from(points: list[CrashPoint]) -> list[CrashPoint]:
    """Between the tool's commit and its record, and around the acceptance."""
    proposing = [point for point in points if "proposal.created" in point.label and point.when == "after"]
    deciding = [point for point in points if "_decide" in point.label]
    assert proposing, sorted({point.label for point in points})
    assert {point.when for point in deciding} == {"before", "after"}, sorted({point.label for point in points})
    return [*proposing, *deciding]


async def test_a_server_killed_between_a_proposal_and_its_record_proposes_once_and_accepts_all_or_nothing(
    make_server: MakeServer,
) -> None:
    seed = seed_of_this_run()
    async with scene_of(make_server()) as scene:
        points = await undisturbed(scene)
        chosen = chosen_from(points)
        chosen += random.Random(seed).sample([point for point in points if point not in chosen], 1)
        print(f"{SEED_VARIABLE}={seed}", *chosen, sep="\n")
        for number, point in enumerate(chosen):
            came = await killed_at(scene, point, number)
            assert came or number >= len(chosen) - 1, f"{point} did not come again"
        assert len(await scene.db.read(_all_proposals)) == len(chosen) + 1


@pytest.mark.deep
@pytest.mark.postgres
async def test_the_same_on_postgresql(make_server: MakeServer, postgres_url: str) -> None:
    async with scene_of(make_server(database=postgres_url, lease_s=1.5)) as scene:
        for number, point in enumerate(chosen_from(await undisturbed(scene))):
            assert await killed_at(scene, point, number), f"{point} did not come again"


@pytest.mark.deep
async def test_a_document_killed_at_any_commit_ends_as_if_nothing_had_happened(make_server: MakeServer) -> None:
    async with scene_of(make_server()) as scene:
        points = await undisturbed(scene)
        missed = [str(point) for number, point in enumerate(points) if not await killed_at(scene, point, number)]
        assert not missed, f"commits that did not come again: {missed}"


@pytest.mark.deep
async def test_documents_killed_at_random_times_end_as_if_nothing_had_happened(make_server: MakeServer) -> None:
    seed = seed_of_this_run()
    print(f"{SEED_VARIABLE}={seed}")
    chance = random.Random(seed)
    async with scene_of(make_server()) as scene:
        for number in range(20):
            document = await scene.document()

            async def strike() -> None:
                await anyio.sleep(chance.uniform(0.0, 0.6))
                await scene.server.kill()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(strike)
                run = await scene.propose(document, f"run{number}")
            await scene.server.revive()
            proposal = await check_proposed(scene, document, run)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(strike)
                await accept(scene, proposal, f"accept{number}")
            await scene.server.revive()
            await check_accepted(scene, document, proposal)


def _all_proposals(tx: Tx) -> list[str]:
    return list(tx.execute(sa.select(proposals.c.id)).scalars())
