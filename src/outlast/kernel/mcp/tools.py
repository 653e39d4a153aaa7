"""The tools of a project's MCP servers, as tools of its agents."""

from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread

from outlast.base.mcp_errors import McpServerFailed, McpToolChanged
from outlast.db.database import Database, Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, ToolResult
from outlast.kernel.connections import store as accounts
from outlast.kernel.mcp import store
from outlast.kernel.mcp.connection import McpConnections
from outlast.kernel.mcp.definitions import Definition, bounded, is_repeatable, reason_to_ask
from outlast.kernel.mcp.results import result_of
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.mcp.store import OfferedTool
from outlast.kernel.mcp.targets import place_of
from outlast.kernel.models.protocol import ToolSpec
from outlast.kernel.runs.shapes import AccountData
from outlast.kernel.runs.tool_calls import interrupted
from outlast.kernel.runs.transcript import Run

if TYPE_CHECKING:
    from mcp import Client
    from pydantic import BaseModel

NOT_CONNECTED: Final = (
    "The person did not connect their account on {server}, so the tool was not called. Go on without this server's "
    "tools unless the person asks for them."
)
UNKNOWN_OUTCOME: Final = " It is not known whether the call took effect."


class ConnectedTools:
    """Finds the allowed tools of a project's MCP servers, for the runs of its agents."""

    def __init__(self, db: Database, connections: McpConnections) -> None:
        self._db, self._connections = db, connections

    def __call__(self, tx: Tx, run: Run, agent: Agent) -> Mapping[str, Tool]:
        """The tools of the run's project by the names for models, in their order; none for an agent that takes no
        additions or that the server reads lines from."""
        if not (agent.listed and agent.extends) or agent.flow is not None or agent.lines is not None:
            return {}
        return {one.call_name: McpTool(one, self) for one in store.offered(tx, run.project_id)}

    async def call(self, tool: OfferedTool, context: Context, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool as the user who started the run. Raises `NotFound` if its server was removed, `McpToolChanged`,
        and as `McpConnections.use`."""
        run = context.this_run
        server = await self._db.read(store.server_of, tool.server_id)
        is_old = self._is_old(server, context)

        async def work(client: "Client") -> ToolResult:
            if is_old:
                await self._list_again(client, tool)
            found = await client.call_tool(tool.name, dict(arguments))
            return await anyio.to_thread.run_sync(result_of, found)  # images of megabytes are decoded

        return await self._connections.use(place_of(server), run.project_id, run.started_by, work)

    async def call_as_user(self, tool: OfferedTool, context: Context, arguments: Mapping[str, Any]) -> ToolResult:
        """As `call`, for a server on which people have accounts: if the user has connected none, they are asked to, and
        the run waits."""
        user_id = context.this_run.started_by
        account = AccountData(server_id=tool.server_id, server=tool.server, host=tool.host, user_id=user_id)

        def is_connected(tx: Tx) -> bool:
            return accounts.is_connected(tx, user_id, tool.server_id)

        found = await context.journal.with_account(account, partial(self.call, tool, context, arguments), is_connected)
        if found is None:
            return ToolResult(NOT_CONNECTED.format(server=tool.server), is_error=True)
        return found

    def _is_old(self, server: McpServerRow, context: Context) -> bool:
        after = timedelta(seconds=self._connections.settings.relist_after_s)
        return server.listed_at + after <= context.journal.now()

    async def _list_again(self, client: "Client", tool: OfferedTool) -> None:
        """Keep what the server lists now. Raises `McpToolChanged` if that is not the tool that was allowed."""
        found, _ = bounded(await self._connections.list_tools(client), self._connections.settings.most_tools)
        await self._db.write(store.put_listing, tool.server_id, found)
        now = next((one for one in found if one.name == tool.name), None)
        if now is None or now.digest() != tool.digest:
            raise McpToolChanged(
                f"The MCP server {tool.server} changed the tool {tool.name} after it was allowed: it was not called.",
                hint="An owner of the project has to look at it and allow it again.",
                tool=tool.name,
            )


class McpTool(Tool):
    """An allowed tool of an MCP server. Its server checks the arguments."""

    def __init__(self, offered: OfferedTool, connected: ConnectedTools) -> None:
        definition = Definition(**offered.definition)  # type: ignore[arg-type]  # kept as its own JSON
        shown = f"{offered.server}.{offered.name}"
        hints = definition.annotations

        async def perform(context: Context, arguments: Mapping[str, Any]) -> ToolResult:
            if offered.login is not None and context.reattach and not self.repeatable:
                return interrupted(self.name)  # its journal has records: that it was asked for an account
            call = connected.call if offered.login is None else connected.call_as_user
            try:
                return await call(offered, context, arguments)
            except McpServerFailed as error:
                if self.repeatable:
                    raise
                raise McpServerFailed(error.message + UNKNOWN_OUTCOME, **error.fields) from None

        super().__init__(
            offered.call_name,
            definition.description or definition.title or shown,
            _no_model,
            perform,
            ask=reason_to_ask(shown, hints),
            repeatable=is_repeatable(hints),
        )
        self._schema, self._digest = definition.schema, offered.digest

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as described to a model."""
        return ToolSpec(self.name, self._description, {"type": "object", "properties": {}, **self._schema})

    @cached_property
    def version(self) -> str | None:
        """The hash of its definition."""
        return self._digest

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Its server checks the arguments."""

    def _validated(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return dict(arguments)


def _no_model() -> "type[BaseModel]":
    raise TypeError("A tool of an MCP server has a JSON Schema and no model.")
