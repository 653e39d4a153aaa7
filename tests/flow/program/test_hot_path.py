"""What a chat run of the whole server costs the database, with everything that apps add to it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_stack
from typing import Any, Final

import anyio
import httpx
import sqlalchemy as sa

from outlast.app import run_program
from outlast.db import lock_order
from outlast.kernel.settings import Settings
from outlast.kernel.settings.server import ServerSettings

# A start, the prompt and the records of a run: the rest of a server works meanwhile, too.
OF_RUNS: Final = ("runs/actions.py", "runs/turn_request.py", "runs/context.py", "runs/settlement.py")


async def test_all_statements_of_a_chat_run_are_prepared(tmp_path: Path) -> None:
    # A list of files in the prompt and a savepoint for the run's memory took a tenth of a run: they were built and
    # compiled each time.
    lock_order.set_debug(False)  # it holds rows that only PostgreSQL shares; it is set anew for each test
    settings = Settings(server=ServerSettings(data_dir=str(tmp_path / "data"), port=0))
    address: list[str] = []
    stop, ready = anyio.Event(), anyio.Event()

    def announce(where: str) -> None:
        address.append(where)
        ready.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_serve, settings, announce, stop.wait)
        await ready.wait()
        async with httpx.AsyncClient(base_url=address[0], timeout=30) as client:
            await _chat(client)
            with _unprepared() as statements:
                await _chat(client)
        stop.set()
    assert statements == [], "\n\n".join(statements)


async def _serve(settings: Settings, announce: Any, asked_to_stop: Any) -> None:
    await run_program(settings, announce, http=True, asked_to_stop=asked_to_stop)


async def _chat(client: httpx.AsyncClient) -> None:
    run = (await client.post("/v1/runs", json={"content": "Hello"})).raise_for_status().json()
    (await client.get(f"/v1/runs/{run['run_id']}/events")).raise_for_status()


@contextmanager
def _unprepared() -> Iterator[list[str]]:
    """The statements of runs that go through SQLAlchemy meanwhile. A prepared one goes straight to the driver."""
    statements: list[str] = []

    def note(_conn: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        frames = walk_stack(sys._getframe())
        if any(frame.f_code.co_filename.endswith(OF_RUNS) for frame, _ in frames):
            statements.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
