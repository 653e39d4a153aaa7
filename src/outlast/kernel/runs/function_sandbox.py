"""The sandbox of a run, as the journal of a function uses it."""

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

import anyio
from pydantic import TypeAdapter

from outlast.base.agent_errors import CommandInterrupted, NoSandboxes, UnknownSecret
from outlast.base.errors import InputTooLarge, SandboxLost
from outlast.db.database import Tx
from outlast.kernel.agents.context import EffectContext
from outlast.kernel.agents.tools.show_file import MAX_BYTES as WHOLE_BYTES
from outlast.kernel.agents.tools.show_file import WORKSPACE
from outlast.kernel.agents.workspaces import OpenWorkspace
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.effect_retries import LOST_PAUSES_S
from outlast.kernel.runs.function_secrets import FunctionSecrets
from outlast.kernel.runs.journal import PLAIN, RunJournal
from outlast.kernel.sandboxes.checkpoints.workspaces import mark_changed
from outlast.kernel.sandboxes.settings import NO_SANDBOXES_HINT, SandboxSettings
from outlast.kernel.sandboxes.shapes import FileChange, FilesChanged
from outlast.kernel.streams.log_store import NamedEvent
from outlast_sandbox.interface import Command, CommandResult

MAX_READ_BYTES: Final = 500_000  # in Base64, a recorded value has room for it
MAX_WRITE_BYTES: Final = 16_000_000
MAX_OUTPUT_BYTES: Final = 500_000
MAX_COMMAND_CHARS: Final = 20_000
STOP_S: Final = 1.0  # the time to end a command when a user cancels the run
_RESULT: Final = TypeAdapter(CommandResult)


class FunctionSandbox:
    """Implements `RunSandbox` for one function. `effect` is what opens its workspace."""

    def __init__(
        self, context: RunContext, journal: RunJournal, effect: EffectContext, secrets: FunctionSecrets
    ) -> None:
        self._context, self._journal, self._effect, self._secrets = context, journal, effect, secrets
        self._workspaces = context.engine.workspaces
        self._settings = context.engine.settings.sandbox or SandboxSettings()
        self._opened: OpenWorkspace | None = None

    async def run(
        self, command: str, *, timeout_s: float | None = None, env: Mapping[str, str] | None = None
    ) -> CommandResult:
        limit_s = self._settings.command_timeout_s
        asked = Command(
            "",
            self._effect.attempt,
            command,
            env=env or {},
            timeout_s=min(timeout_s or limit_s, limit_s),
            output_limit_bytes=min(self._settings.output_bytes, MAX_OUTPUT_BYTES),
        )
        ran: list[str] = []

        async def work(step_id: str, since: datetime | None) -> CommandResult:
            ran.append(step_id)
            return await self._run(replace(asked, effect_id=step_id), since)

        result: CommandResult = await self._journal.command(f"run {command}", work, _RESULT, self._note_change)
        if ran:
            await self._changed(ran[0])
        return result

    async def read(self, path: str) -> bytes:
        read = partial(self._repeated, partial(self._read, path))
        return base64.b64decode(await self._journal.perform("sandbox", f"read {path}", read))

    async def read_text(self, path: str) -> str:
        return (await self.read(path)).decode("utf-8", "replace")

    async def write(self, path: str, content: str | bytes) -> None:
        body = content.encode() if isinstance(content, str) else content
        wrote: list[bool] = []

        async def work() -> None:
            if len(body) > MAX_WRITE_BYTES:
                raise InputTooLarge(f"A file has at most {MAX_WRITE_BYTES:,} bytes; this has {len(body):,}.")
            wrote.append(True)
            await self._repeated(lambda: self._write(path, content))

        def note(tx: Tx, events: list[NamedEvent]) -> None:
            self._note_change(tx, events)
            if self._opened is not None:
                change = FileChange(path=path, size_bytes=len(body))
                where = self._opened.workspace_id
                changed = FilesChanged(run_id=self._context.run.id, workspace_id=where, files=[change])
                events.append(("files.changed", changed))

        await self._journal.perform("sandbox", f"write {path}", partial(work), PLAIN, note)
        if wrote:
            await self._changed("")

    async def read_whole(self, path: str) -> bytes:
        """A file to show: within a step, as long as a sandbox can give one."""
        most = WHOLE_BYTES + 1

        async def read() -> bytes:
            return await (await self._open()).sandbox.read_file(path.removeprefix(WORKSPACE), most)

        content: bytes = await self._repeated(read)
        return content

    async def _open(self) -> OpenWorkspace:
        if not self._workspaces.are_offered:
            raise NoSandboxes(f"This server has no sandboxes. {NO_SANDBOXES_HINT}")
        self._opened = await self._workspaces.open(self._effect)
        return self._opened

    async def _run(self, command: Command, since: datetime | None) -> CommandResult:
        if not 1 <= len(command.script) <= MAX_COMMAND_CHARS:
            raise InputTooLarge(f"A command has 1 to {MAX_COMMAND_CHARS:,} characters.")
        workspace = await self._open()
        texts = [await self._with_placeholders(text) for text in (command.script, *command.env.values())]
        env = dict(zip(command.env, texts[1:], strict=True))
        asked = replace(command, script=texts[0], env=env)

        async def call(attach_only: bool) -> CommandResult:
            return await workspace.sandbox.run(replace(asked, attach_only=attach_only))

        try:
            result = await self._workspaces.attach_or_begin(workspace, since, call)
        except SandboxLost:
            result = None
        except anyio.get_cancelled_exc_class():
            if self._context.is_cancelled:  # by a user; a stop of the server leaves the command at work
                with anyio.CancelScope(shield=True, deadline=anyio.current_time() + STOP_S):
                    await workspace.sandbox.kill_command(command.effect_id)
            raise
        if result is None:
            raise CommandInterrupted("The sandbox was lost while it ran; whether it took effect is not known.")
        return result

    async def _repeated(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """The result of work that may be done again in another sandbox."""
        for pause_s in LOST_PAUSES_S:
            try:
                return await work()
            except SandboxLost:
                await anyio.sleep(pause_s)
        try:
            return await work()
        except SandboxLost:
            raise CommandInterrupted("The sandbox was lost several times.") from None

    async def _read(self, path: str) -> str:
        content = await (await self._open()).sandbox.read_file(path, MAX_READ_BYTES + 1)
        if len(content) > MAX_READ_BYTES:
            raise InputTooLarge(
                f"The file is larger than {MAX_READ_BYTES:,} bytes; read a part of it with a command, such as head."
            )
        return base64.b64encode(content).decode()

    async def _write(self, path: str, content: str | bytes) -> None:
        sandbox = (await self._open()).sandbox
        body = content if isinstance(content, bytes) else (await self._with_placeholders(content)).encode()
        await sandbox.write_files([(path, body)])

    async def _with_placeholders(self, text: str) -> str:
        """The text with what stands for secrets in the open sandbox, which differs from sandbox to sandbox."""
        names = self._secrets.named_in(text)
        if not names or self._opened is None:
            return text
        find = self._workspaces.placeholders
        if find is None:
            raise UnknownSecret(
                f"The provider of this sandbox gives no placeholder for {', '.join(names)}.",
                hint="Use the environment variable of that name in the command.",
            )
        return self._secrets.put_in(text, await find(self._opened.sandbox.sandbox_id))

    def _note_change(self, tx: Tx, _events: list[NamedEvent]) -> None:
        if self._opened is not None:
            mark_changed(tx, self._opened.workspace_id)  # after a kill before the checkpoint, one is still due

    async def _changed(self, step_id: str) -> None:
        """The outcome is recorded: let the files be saved, and the sandbox forget the command."""
        if self._opened is None:
            return
        self._context.works_in(self._opened.workspace_id)
        self._context.files_changed(self._effect.effect_id)
        if step_id:
            try:
                await self._opened.sandbox.acknowledge(step_id)
            except Exception as error:  # it forgets the oldest ones by itself
                self._context.engine.log("clean-up failed", run_id=self._context.run.id, step=step_id, error=error)
