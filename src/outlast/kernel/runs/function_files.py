"""The files of a run's thread and project, as the journal of a function reads and shows them."""

import base64
from collections.abc import Sequence
from functools import partial
from typing import Final

import anyio.to_thread
from pydantic import TypeAdapter

from outlast.base.errors import InputTooLarge
from outlast.db.database import Tx
from outlast.kernel.agents.resources import KnownFile
from outlast.kernel.agents.tools.show_file import file_part, store_file
from outlast.kernel.attachments.store import StoredFile, add_file
from outlast.kernel.files import known_files
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.function_sandbox import FunctionSandbox
from outlast.kernel.runs.journal import PLAIN, RunJournal
from outlast.kernel.runs.shapes import whole_parts
from outlast.kernel.streams.log_store import NamedEvent

MAX_READ_BYTES: Final = 500_000  # in Base64, a recorded value has room for it
_LISTED: Final = TypeAdapter(list[KnownFile])


class FunctionFiles:
    """Implements `Files` for one function. `step` is the step of the run that its parts belong to."""

    def __init__(self, context: RunContext, journal: RunJournal, sandbox: FunctionSandbox, step: int) -> None:
        self._context, self._journal, self._sandbox, self._step = context, journal, sandbox, step
        self._engine = context.engine
        self._place = context.run.thread_id, context.run.project_id

    async def list(self) -> Sequence[KnownFile]:
        listed = partial(self._engine.db.read, known_files.list_files, *self._place)
        found: list[KnownFile] = await self._journal.perform("file", "list", listed, _LISTED)
        return found

    async def read(self, name: str) -> bytes:
        return base64.b64decode(await self._journal.perform("file", f"read {name}", partial(self._read, name)))

    async def read_text(self, name: str) -> str:
        return (await self.read(name)).decode("utf-8", "replace")

    async def show(self, name: str, content: str | bytes | None = None) -> None:
        stored: list[StoredFile] = []

        async def store() -> None:
            body = content.encode() if isinstance(content, str) else content
            if body is None:
                body = await self._sandbox.read_whole(name)
            stored.append(await store_file(self._engine.blobs, self._engine.settings.limits, name, body))

        def record(tx: Tx, events: list[NamedEvent]) -> None:
            run = self._context.run
            for file in stored:  # none if it failed
                made = add_file(tx, run.project_id, run.started_by, file)
                events.extend(whole_parts([file_part(made.id, file)], self._step))

        await self._journal.perform("file", f"show {name}", partial(store), PLAIN, record)

    async def _read(self, name: str) -> str:
        file = await self._engine.db.read(known_files.find_file, *self._place, name)
        if file.size_bytes > MAX_READ_BYTES:
            raise InputTooLarge(
                f"The file {file.name} has {file.size_bytes:,} bytes; at most {MAX_READ_BYTES:,} can be read. Files of"
                " messages are also in the folder uploads of the sandbox."
            )
        content = await anyio.to_thread.run_sync(self._engine.blobs.get, file.blob)
        return base64.b64encode(content).decode()
