"""Runs of one thread on two servers: each goes on in the sandbox that the one before used. Doors too are the same on
both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from outlast.base.errors import Conflict, ThreadLocked
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.agents.tools.run_code import run_code_tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.attachments import actions as uploads
from outlast.kernel.attachments.rules import MIN_PIECE_BYTES
from outlast.kernel.locks.actions import release_lock, take_lock
from outlast.kernel.models.protocol import ModelRequest
from outlast.kernel.previews.actions import open_preview, redeem
from outlast.kernel.runs.actions import start_run
from outlast.kernel.runs.worker import Worker
from outlast.kernel.sandboxes.actions import list_files, read_file
from outlast.kernel.services import Services
from outlast.kernel.streams.actions import follow_run
from outlast.kernel.threads.user_input import Draft
from outlast.testing.agents import FakeAgent
from outlast.testing.catalog import ScriptedCatalog
from outlast.testing.scripted_model import Call, ScriptedModel, Turn, turn
from tests.factories import Team, make_services
from tests.flow.harness import told_last
from tests.sandbox.e2b_service import E2bService
from tests.sandbox.two_servers import Fleet, Server, opening_servers

pytestmark = [pytest.mark.sandbox, pytest.mark.postgres]

PIECE = b"a" * MIN_PIECE_BYTES


@pytest.fixture
async def fleet(reused_postgres_url: str, tmp_path: Path, e2b_service: E2bService) -> AsyncIterator[Fleet]:
    async with opening_servers(reused_postgres_url, tmp_path, e2b_service) as fleet:
        yield fleet


@dataclass
class Node:
    """A server that runs agents."""

    services: Services
    server: Server
    model: ScriptedModel
    coder: Coder


class Coder:
    """What the model of a server answers: a call of `run_code` with `code` once, then an answer."""

    code: str | None = None

    def turn(self, _request: ModelRequest) -> Turn:
        code, self.code = self.code, None
        return turn("Done.") if code is None else turn(Call("run_code", {"code": code, "language": "python"}))


async def _node(fleet: Fleet, name: str) -> Node:
    server = await fleet.open(name)
    coder = Coder()
    model = ScriptedModel(coder.turn)
    agent = FakeAgent(run_code_tool(Workspaces(server.db, server.machines), 10_000))
    catalog, machines = ScriptedCatalog(model), server.machines
    made = make_services(
        server.db, fleet.folder, catalog=catalog, agents=[agent], manager=machines, checkpoints=server.files
    )
    engine = replace(made.engine, node_id=f"nod_{name}", files=server.files)
    return Node(replace(made, engine=engine), server, model, coder)


@asynccontextmanager
async def _working(services: Services) -> AsyncIterator[None]:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Worker(services.engine).run)
        yield
        tasks.cancel_scope.cancel()


async def _run(node: Node, owner: Actor, thread_id: str, code: str) -> str:
    """What the tool returned to the model."""
    node.coder.code = code
    async with _working(node.services):
        run_id = (await start_run(node.services, owner, thread_id, Draft(code))).run_id
        chunks = await follow_run(node.services, owner, run_id, "0")
        assert chunks is not None
        async for _ in chunks:
            pass
    return told_last(node.model.requests[-1])[0]


async def _alternate(fleet: Fleet, times: int) -> None:
    nodes = [await _node(fleet, "a"), await _node(fleet, "b")]
    team = await nodes[0].services.db.write(Team)
    await _run(nodes[0], team.owner, team.thread_id, "kept = []")
    for number in range(times):
        code = f"kept.append({number}); f'sum {{sum(kept)}}.'"
        result = await _run(nodes[(number + 1) % 2], team.owner, team.thread_id, code)
        assert f"sum {number * (number + 1) // 2}." in result, result


async def test_a_run_on_one_server_reads_the_variables_of_runs_on_another(fleet: Fleet) -> None:
    await _alternate(fleet, 20)


@pytest.mark.deep
async def test_a_run_on_one_server_reads_the_variables_of_runs_on_another_a_hundred_times(fleet: Fleet) -> None:
    await _alternate(fleet, 100)


async def test_files_tickets_locks_and_uploads_are_the_same_on_both(fleet: Fleet) -> None:
    at_a, at_b = await _node(fleet, "a"), await _node(fleet, "b")
    a, b = at_a.services, at_b.services
    team = await a.db.write(Team)
    owner = team.owner
    await _run(at_a, owner, team.thread_id, "open('file.txt', 'w').write('kept')")
    (row,) = await at_b.server.machines.recorded()

    assert [one.path for one in await list_files(b, owner, row.id)] == ["file.txt"]
    assert await read_file(b, owner, row.id, "file.txt") == b"kept"
    assert [one.id for one in await at_a.server.machines.recorded()] == [row.id]  # a look loses nothing

    ticket = await open_preview(a, owner, row.id, 3000, "http://localhost:8400")
    used = [await redeem(one, ticket.secret, row.id, 3000, local_mode=True) for one in (b, a, b)]
    assert used[0] is not None
    assert used[1:] == [None, None]

    await take_lock(a, owner, team.thread_id)
    with pytest.raises(ThreadLocked):
        await take_lock(b, team.editor, team.thread_id)
    await release_lock(b, owner, team.thread_id)
    await take_lock(a, team.editor, team.thread_id)

    size = len(PIECE) + 4
    begun = await uploads.create_upload(a, owner, team.project_id, "two.txt", size)
    await uploads.add_upload_piece(a, owner, begun.id, 0, PIECE)
    with pytest.raises(Conflict):  # out of order, whichever server is asked
        await uploads.add_upload_piece(b, owner, begun.id, 0, PIECE)
    await uploads.add_upload_piece(b, owner, begun.id, len(PIECE), b"both")
    made = await uploads.complete_upload(b, owner, begun.id)
    _, lent = await uploads.open_attachment(a, owner, made.id)
    assert lent.path.read_bytes() == PIECE + b"both"
