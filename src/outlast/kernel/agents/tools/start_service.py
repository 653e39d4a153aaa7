"""`start_service`: a process that stays running in the workspace, such as a dev server; back once it answers."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from pydantic import Field

from outlast.base.errors import ArgumentsInvalid, MalformedInput
from outlast.kernel.agents.tools.base import Arguments, ToolBase
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.runs.profile import ToolContext, ToolResult
from outlast.kernel.sandboxes.services.rules import Declared, ServiceState, checked
from outlast.kernel.sandboxes.services.store import ServiceRow

WAIT_S = 200.0  # a little longer than the keeper gives a service to answer
SHOWN_BYTES = 4_000


class Keeper(Protocol):
    """What the sandboxes room offers here: services that are kept running."""

    async def declare(self, workspace_id: str, wanted: Declared) -> ServiceRow: ...
    async def wait_settled(self, workspace_id: str, name: str, timeout_s: float) -> ServiceRow: ...
    def output(self, workspace_id: str, name: str, max_bytes: int) -> str: ...


class ServiceArguments(Arguments):
    name: str = Field(min_length=1, max_length=40, description="Small letters, digits, hyphens; such as web.")
    command: str = Field(
        min_length=1,
        max_length=4_000,
        description="Shell command that stays in the foreground, run in the workspace folder.",
    )
    port: int = Field(ge=1024, le=65535, description="Where it listens; also in its variable PORT.")
    health_path: str = Field(
        "", max_length=500, description="Path that answers below 500 once it is up, such as /."
    )


class StartService(ToolBase):
    name: ClassVar[str] = "start_service"
    description: ClassVar[str] = (
        "Declare a process that stays running in the sandbox, such as a dev server, and start it. Returns once it "
        "answers, or the end of its output when it does not. It is checked, started again when it ends, and started "
        "with the sandbox from then on. The same name with another command or port replaces it."
    )
    arguments: ClassVar[type[Arguments]] = ServiceArguments
    repeatable: ClassVar[bool] = True

    def __init__(self, workspaces: Workspaces, keeper: Keeper) -> None:
        self._workspaces, self._keeper = workspaces, keeper

    def check(self, arguments: Mapping[str, Any]) -> None:
        super().check(arguments)
        try:
            checked(_wanted(arguments), [])
        except MalformedInput as error:
            raise ArgumentsInvalid(error.message, tool=self.name, **error.fields) from None

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        wanted = _wanted(arguments)
        workspace = await self._workspaces.open(context)
        await self._keeper.declare(workspace.workspace_id, wanted)
        row = await self._keeper.wait_settled(workspace.workspace_id, wanted.name, WAIT_S)
        output = self._keeper.output(workspace.workspace_id, wanted.name, SHOWN_BYTES).strip()
        return ToolResult(_told(row, output), is_error=row.state is not ServiceState.HEALTHY)


def _wanted(arguments: Mapping[str, Any]) -> Declared:
    asked = ServiceArguments.model_validate(dict(arguments))
    return Declared(asked.name, asked.command, asked.port, asked.health_path)


def _told(row: ServiceRow, output: str) -> str:
    """What the model reads: where it stands, then the end of its output."""
    declared = row.declared
    end = f"\n[end of its output]\n{output}" if output else "\n[it has printed nothing]"
    match row.state:
        case ServiceState.HEALTHY:
            return (
                f"The service {row.name} is up and answers on port {declared.port} inside the sandbox.{end}"
            )
        case ServiceState.FAILED:
            why = (row.error or "").split("\n")[0]
            return f"The service {row.name} failed and is not started again. {why}{end}"
        case _:
            return f"The service {row.name} does not answer yet on port {declared.port}; it goes on starting.{end}"
