"""The workspace of a run, as pydantic-ai's tools and capabilities use it."""

import base64
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Protocol

import anyio
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.tools import AgentDepsT, RunContext
from pydantic_ai.workspaces import (
    CommandResult,
    WorkspaceBackend,
    WorkspaceCommand,
    WorkspaceOutputLimitError,
    WorkspaceRef,
    WorkspaceTimeoutError,
    WorkspaceUnavailableError,
)
from pydantic_ai.workspaces.protocol import validate_timeout

from outlast.base.errors import SandboxLost, SandboxUnavailable
from outlast.base.ids import new_id
from outlast.base.records import dataclass
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.workspaces import OpenWorkspace
from outlast.kernel.runs.context import RunContext as OwnRunContext
from outlast.kernel.sandboxes.checkpoints.workspaces import mark_changed
from outlast_sandbox.interface import Command
from outlast_sandbox.interface import CommandResult as Ran

PROVIDER: Final = "outlast"
MAX_BYTES: Final = 500_000  # of each stream; in Base64, both have room in a command's output
OUTPUT_BYTES: Final = 1_500_000
STOP_S: Final = 1.0
# The streams go to files, whose bytes are sent when the command has ended: so both are whole, and a process in the
# background holds nothing up.
SCRIPT: Final = (
    'd=$(mktemp -d) || exit 1; {command} </dev/null >"$d/o" 2>"$d/e"; c=$?; '
    'for f in o e; do printf "%s " "$(wc -c <"$d/$f")"; head -c {most} "$d/$f" | base64 -w0; echo; done; '
    'rm -rf "$d"; echo "$c"'
)


class Place(Protocol):
    """Where a workspace is."""

    async def open(self) -> OpenWorkspace:
        """The workspace with its sandbox, started now if there is none. Raises `SandboxUnavailable`."""

    async def changing(self, workspace_id: str) -> None:
        """Its files may change from now on."""

    def changed(self, workspace_id: str) -> None:
        """Its files may have changed."""


@dataclass(frozen=True, slots=True)
class _RunPlace:
    """The workspace of a run."""

    effect: Context
    run: OwnRunContext

    async def open(self) -> OpenWorkspace:
        return await self.run.engine.workspaces.open(self.effect)

    async def changing(self, workspace_id: str) -> None:
        await self.run.engine.db.write(mark_changed, workspace_id)  # after a kill, a checkpoint is still due

    def changed(self, workspace_id: str) -> None:
        self.run.works_in(workspace_id)
        self.run.files_changed(self.effect.effect_id)


_place: ContextVar[Place | None] = ContextVar("outlast_guest_workspace", default=None)


@contextmanager
def workspace_scope(effect: Context, run: OwnRunContext) -> Iterator[None]:
    """Within it, `OutlastWorkspace` gives the workspace of this run."""
    token = _place.set(_RunPlace(effect, run))
    try:
        yield
    finally:
        _place.reset(token)


class OutlastWorkspace(AbstractCapability[AgentDepsT]):
    """Give an agent of pydantic-ai the sandbox of its run as its workspace:

        agent = Agent("openai:gpt-5.2", name="coder", capabilities=[OutlastDurability(), OutlastWorkspace()])

    Tools find it as `ctx.workspace`. Its files are those of the thread's workspace, saved with the run's; its sandbox
    starts with the run. Outside of a server the agent has no workspace.
    """

    def get_workspace(self, ctx: RunContext[AgentDepsT], *, ref: WorkspaceRef | None) -> WorkspaceBackend | None:
        place = _place.get()
        if place is None or (ref is not None and ref.provider != PROVIDER):
            return None
        return SandboxWorkspace(place, ref)


class SandboxWorkspace:
    """A `WorkspaceBackend` with commands; pydantic-ai derives files from them. Raises `WorkspaceUnavailableError` if
    the sandbox is lost during a command; the next one works in a new sandbox with the same files."""

    def __init__(self, place: Place, ref: WorkspaceRef | None = None) -> None:
        self._place, self._ref = place, ref
        self._directory = ""

    @property
    def ref(self) -> WorkspaceRef | None:
        return self._ref

    async def working_dir(self) -> str:
        if not self._directory:
            self._directory = (await self.run(["pwd", "-P"])).stdout.removesuffix("\n")
        return self._directory

    async def run(
        self,
        command: WorkspaceCommand,
        *,
        shell: bool = False,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> CommandResult:
        validate_timeout(timeout)
        if isinstance(command, str) is not shell:
            raise TypeError("A command is a text with shell=True, and a sequence of texts without.")
        words = ["sh", "-c", command] if isinstance(command, str) else ["sh", "-c", 'exec "$@"', "sh", *command]
        workspace = await self._open()
        asked = Command(
            new_id("step"),
            1,
            SCRIPT.format(command=shlex.join(words), most=MAX_BYTES),
            env=env or {},
            timeout_s=timeout,
            output_limit_bytes=OUTPUT_BYTES,
        )
        try:
            return _result_of(await self._ran(workspace, asked), timeout)
        finally:
            self._place.changed(workspace.workspace_id)

    async def _open(self) -> OpenWorkspace:
        try:
            workspace = await self._place.open()
        except SandboxUnavailable as error:
            raise WorkspaceUnavailableError(f"{error.message} {error.hint}".strip()) from error
        if self._ref is None:
            self._ref = WorkspaceRef(provider=PROVIDER, id=workspace.workspace_id)
        elif self._ref.id != workspace.workspace_id:
            raise WorkspaceUnavailableError("This workspace belongs to another thread.")
        await self._place.changing(workspace.workspace_id)
        return workspace

    async def _ran(self, workspace: OpenWorkspace, command: Command) -> Ran:
        try:
            ran = await workspace.sandbox.run(command)
            await workspace.sandbox.acknowledge(command.effect_id)
            return ran
        except SandboxLost as error:
            raise WorkspaceUnavailableError("The sandbox was lost during the command.") from error
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True, deadline=anyio.current_time() + STOP_S):
                await workspace.sandbox.kill_command(command.effect_id)
            raise


def _result_of(ran: Ran, timeout: float | None) -> CommandResult:
    if ran.timed_out:
        raise WorkspaceTimeoutError(f"The command took longer than {timeout:g} s." if timeout else "Too slow.")
    lines = ran.output.rstrip("\n").split("\n")
    if len(lines) < 3 or not lines[-1].isdigit():
        raise WorkspaceUnavailableError(f"The command was ended: {ran.killed_reason or ran.output[-200:]}")
    streams = [line.split(" ") for line in lines[-3:-1]]
    stdout, stderr = (base64.b64decode(body).decode("utf-8", "replace") for _, body in streams)
    if any(int(size) > MAX_BYTES for size, _ in streams):
        raise WorkspaceOutputLimitError(
            f"The command wrote more than {MAX_BYTES:,} bytes.", limit=MAX_BYTES, stdout=stdout, stderr=stderr
        )
    return CommandResult(exit_code=int(lines[-1]), stdout=stdout, stderr=stderr)
