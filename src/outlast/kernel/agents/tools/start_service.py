"""`start_service`: a process that stays running in the workspace, such as a dev server; returns once it answers."""

from typing import Annotated

from pydantic import Field

from outlast.base.errors import ArgumentsInvalid, MalformedInput
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, ToolResult, tool
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.sandboxes.rows import ServiceRow
from outlast.kernel.sandboxes.services.keeper import ServiceKeeper
from outlast.kernel.sandboxes.services.rules import Declared, checked

WAIT_S = 200.0  # a little longer than the keeper gives a service to answer
SHOWN_BYTES = 4_000
Name = Annotated[
    str, Field(min_length=1, max_length=40, description="Lower-case letters, digits, hyphens; such as web.")
]
CommandText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=4_000,
        description="Shell command that stays in the foreground, run in the workspace folder.",
    ),
]
Port = Annotated[int, Field(ge=1024, le=65535, description="Port that it listens on; also in its variable PORT.")]
HealthPath = Annotated[str, Field(max_length=500, description="Path that answers below 500 once it is up, such as /.")]


def start_service_tool(workspaces: Workspaces, keeper: ServiceKeeper) -> Tool:
    """`start_service` over these workspaces, with the keeper that starts their services."""

    @tool(repeatable=True, check=_require_valid)
    async def start_service(
        ctx: Context, name: Name, command: CommandText, port: Port, health_path: HealthPath = ""
    ) -> ToolResult:
        """Declare a process that stays running in the sandbox, such as a dev server, and start it. Returns once it
        answers, or with the end of its output if it does not. From then on it is checked, restarted when it ends, and
        started with the sandbox. The same name with another command or port replaces it."""
        workspace = await workspaces.open(ctx)
        await keeper.declare(workspace.workspace_id, Declared(name, command, port, health_path))
        row = await keeper.wait_settled(workspace.workspace_id, name, WAIT_S)
        output = keeper.output(workspace.workspace_id, name, SHOWN_BYTES).strip()
        return ToolResult(_render_state(row, output), is_error=row.state != "healthy")

    return start_service


def _require_valid(name: str, command: str, port: int, health_path: str) -> None:
    try:
        checked(Declared(name, command, port, health_path), [])
    except MalformedInput as error:
        raise ArgumentsInvalid(error.message, tool="start_service", **error.fields) from None


def _render_state(row: ServiceRow, output: str) -> str:
    """The text for the model: its state, then the end of its output."""
    end = f"\n[end of its output]\n{output}" if output else "\n[it has printed nothing]"
    match row.state:
        case "healthy":
            return f"The service {row.name} is up and answers on port {row.port} inside the sandbox.{end}"
        case "failed":
            why = (row.error or "").split("\n")[0]
            return f"The service {row.name} failed and is not started again. {why}{end}"
        case _:
            return f"The service {row.name} does not answer yet on port {row.port}; it is still starting.{end}"
