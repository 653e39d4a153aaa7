"""The tools of MCP servers, as tools of agents."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from outlast.base.clock import Clock
from outlast.base.connection_errors import ConnectionNeeded
from outlast.base.errors import OutlastError
from outlast.base.mcp_errors import McpServerFailed, McpToolChanged
from outlast.db.database import Database, Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context, Journal, Kept
from outlast.kernel.agents.tool import Tool, ToolResult
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.connections import store as accounts
from outlast.kernel.connections.service_accounts import ServiceAccounts
from outlast.kernel.mcp import store
from outlast.kernel.mcp.code_servers import place_of
from outlast.kernel.mcp.connection import McpConnections
from outlast.kernel.mcp.definitions import Definition, bounded, call_name, is_read_only, is_repeatable, reason_to_ask
from outlast.kernel.mcp.dialogs import Answers, Dialog, lost
from outlast.kernel.mcp.live_calls import Ask, LiveCalls
from outlast.kernel.mcp.outcomes import Begun, Request, Wanted, kept
from outlast.kernel.mcp.package_servers import PackageServers
from outlast.kernel.mcp.progress import Progress
from outlast.kernel.mcp.results import result_of
from outlast.kernel.mcp.rows import McpServerRow
from outlast.kernel.mcp.store import OfferedTool
from outlast.kernel.mcp.targets import Session
from outlast.kernel.mcp.task_calls import TaskCall, begun_in, kept_task, to_end
from outlast.kernel.models.protocol import ToolSpec
from outlast.kernel.runs.shapes import AccountData
from outlast.kernel.runs.store import has_ended, run_of
from outlast.kernel.runs.transcript import Run

if TYPE_CHECKING:
    from mcp import ClientSession
    from pydantic import BaseModel

T = TypeVar("T")
NOT_CONNECTED: Final = (
    "The person did not connect their account on {server}, so the tool was not called. Go on without this server's "
    "tools unless the person asks for them."
)
CONNECT: Final = "connect"
TO_CONNECT: Final = (
    "Connect the person's account on {server}, whose tools you get then. Call it when a task needs {server}; the "
    "person decides."
)
END_S: Final = 3.0  # to end a task, while other timers wait
LIST_S: Final = 15  # of a first listing, for which a run waits
UNKNOWN_OUTCOME: Final = " It is not known whether the call took effect."


class ConnectedTools:
    """Finds the allowed tools of MCP servers for runs: those of a project's servers for its agents, and those of the
    servers that an agent's code names."""

    def __init__(
        self,
        db: Database,
        connections: McpConnections,
        clock: Clock,
        packages: PackageServers | None = None,
        workspaces: Workspaces | None = None,
    ) -> None:
        """`packages` and `workspaces` are those of a server with sandboxes. `clock` is for questions of servers."""
        self._db, self._connections = db, connections
        self._packages, self._workspaces = packages, workspaces
        self._services = ServiceAccounts(db, connections.tokens)
        self._listings: dict[str, anyio.Lock] = {}
        self._clock = clock
        self.calls = LiveCalls(clock, lambda effect_id: db.read(has_ended, effect_id))

    async def prepare(self, run: Run, agent: Agent) -> Mapping[str, str]:
        """List the servers in the agent's code that never were, as the user who started the run. Returns why tools are
        missing, by their server: one that failed is not asked again for a while."""
        if not agent.mcp_servers:
            return {}
        spots = [one.spot for one in agent.mcp_servers]
        rows = await self._db.read(store.code_servers, spots)
        if len(rows) < len(spots):
            rows = await self._db.write(store.put_code_servers, spots)
        missing: dict[str, str] = {}

        async def list_one(server: McpServerRow) -> None:
            async with self._listings.setdefault(server.id, anyio.Lock()):  # many runs may begin at once
                problem = await self._list_first(server.id, run)
            if problem:
                missing[server.name] = problem

        async with anyio.create_task_group() as group:
            for row in rows:
                if row.listed_at is None:
                    group.start_soon(list_one, row)
        return missing

    async def _list_first(self, server_id: str, run: Run) -> str:
        """Why the server could not be listed; empty if it is listed."""
        server, now = await self._db.read(lambda tx: (store.server_of(tx, server_id), tx.now))
        if server.listed_at is not None:
            return ""
        if server.command is not None:
            return await self._install_first(server)
        if server.retry_at is not None and server.retry_at > now:
            return server.problem or ""
        connections = self._connections
        try:
            with anyio.fail_after(LIST_S):
                found = await connections.use(place_of(server), run.project_id, run.started_by, connections.list_tools)
        except TimeoutError:
            problem = f"The MCP server {server.name} did not answer within {LIST_S} s."
        except McpServerFailed as error:
            problem = error.message
        except ConnectionNeeded:  # the agent gets a tool that asks for the account
            return ""
        except OutlastError as error:  # such as a secret that this user has no value of: others may have one
            return error.message
        else:
            taken, _ = bounded(found, connections.settings.most_tools)
            await self._db.write(store.put_listing, server.id, taken)
            return ""
        await self._db.write(store.put_problem, server.id, problem)
        return problem

    async def _install_first(self, server: McpServerRow) -> str:
        """As `_list_first`, for a package, which may take minutes: the run does not wait for all of them."""
        if self._packages is None or not self._packages.are_offered:
            return f"The MCP server {server.name} is a package, and this server has no sandboxes."
        if server.problem is None:
            server = await self._packages.listed(server.id, LIST_S)
        if server.listed_at is not None:
            return ""
        return server.problem or f"The package of the MCP server {server.name} is being installed."

    def __call__(self, tx: Tx, run: Run, agent: Agent) -> Mapping[str, Tool]:
        """The tools by the names for models, in their order: of the run's project, unless the agent takes no additions
        or the server reads lines from it, and of the servers in the agent's code, which go before a server of the
        project of the same name."""
        in_code = {one.name: one for one in agent.mcp_servers}
        of_services = self._services.tools(agent)
        tools: list[Tool] = [
            McpTool(one, self) for one in self._of_project(tx, run, agent) if one.server not in in_code
        ]
        if in_code:
            spots = [one.spot for one in agent.mcp_servers]
            of_code = store.offered_of_code(tx, spots)
            tools += [McpTool(one, self) for one in of_code if in_code[one.server].allows(one.name)]
            signed_in = [spot for spot in spots if spot.login is not None]
            rows = store.code_servers(tx, signed_in) if signed_in else ()
            tools += [self._connect_tool(row) for row in rows if row.listed_at is None]
            tools.sort(key=lambda one: one.name)
        return {one.name: one for one in (*tools, *of_services)}

    def variables(self, agent: Agent) -> list[str]:
        """See `FindTools`."""
        return [one.variable for one in self._services.of(agent)]

    async def connect(self, journal: Journal, run: Run, agent: Agent, name: str) -> str:
        """See `FindTools`."""
        return await self._services.demand(journal, run, agent, name)

    def _connect_tool(self, server: McpServerRow) -> Tool:
        """Stands for the tools of a server that lists them only for people with an account."""

        async def connect(context: Context, _arguments: Mapping[str, Any]) -> ToolResult:
            run = context.this_run

            async def list_now() -> str:
                use = self._connections.use
                found = await use(place_of(server), run.project_id, run.started_by, self._connections.list_tools)
                taken, _ = bounded(found, self._connections.settings.most_tools)
                await self._db.write(store.put_listing, server.id, taken)
                return ", ".join(call_name(server.name, one.name) for one in taken)

            names = await self._with_account(context, server.id, server.name, server.url, list_now)
            if names is None:
                return ToolResult(NOT_CONNECTED.format(server=server.name), is_error=True)
            return ToolResult(f"The account is connected. The tools of {server.name}: {names}.")

        name, description = call_name(server.name, CONNECT), TO_CONNECT.format(server=server.name)
        return Tool(name, description, _no_arguments, connect, repeatable=True)

    @staticmethod
    def _of_project(tx: Tx, run: Run, agent: Agent) -> Sequence[OfferedTool]:
        if not (agent.listed and agent.extends) or agent.flow is not None or agent.lines is not None:
            return ()
        return store.offered(tx, run.project_id, run.started_by)

    async def run(self) -> None:
        """Keep the connections of calls whose servers ask people. Until cancelled."""
        await self.calls.run()

    async def call(
        self, tool: OfferedTool, context: Context, arguments: Mapping[str, Any], repeatable: bool
    ) -> ToolResult:
        """Call a tool as the user who started the run; one that is `repeatable` once more if its server's package ends
        meanwhile, or a restart cut it off. If the server asks a person, or they have no account on it, the run waits.
        Raises `NotFound` if its server was removed, `McpToolChanged`, and as `McpConnections.use`."""

        async def exchange(wanted: Wanted | None, answers: Answers | None) -> ToolResult | Kept:
            if wanted is not None and wanted.how == "live":
                found = await self._answer_live(context, answers or {})
                if found is not None:
                    return await self._taken(tool, found)
                if not repeatable:
                    return lost(tool.call_name)
                wanted = answers = None  # the call is made from its beginning
            return await self._exchange(tool, context, arguments, repeatable, wanted, answers)

        async def with_account(work: Callable[[], Awaitable[T]]) -> T | ToolResult:
            if tool.login is None:
                return await work()
            found = await self._with_account(context, tool.server_id, tool.server, tool.url, work)
            if found is None:
                return ToolResult(NOT_CONNECTED.format(server=tool.server), is_error=True)
            return found

        return await Dialog(
            context,
            tool=tool.call_name,
            server=tool.server,
            repeatable=repeatable,
            exchange=exchange,
            collect=partial(self._collect, tool, context),
            with_account=with_account,
        ).result()

    async def _exchange(
        self,
        tool: OfferedTool,
        context: Context,
        arguments: Mapping[str, Any],
        again: bool,
        wanted: Wanted | None,
        answers: Answers | None,
    ) -> ToolResult | Kept:
        """One request to the server, over a connection of its own."""
        run = context.this_run
        server = await self._db.read(store.server_of, tool.server_id)
        is_old = wanted is None and self._is_old(server, context)
        given = (None, None) if wanted is None or wanted.how == "plain" else (answers, wanted.state)

        session, progress = Session(), Progress(context.show)

        async def work(client: "ClientSession") -> Any:
            from outlast.kernel.mcp import sdk_requests as sdk  # loaded with its client

            if is_old:
                await self._list_again(client, tool)
            found = await sdk.call_tool(client, tool.name, arguments, *given, progress=progress)
            if isinstance(found, Begun):
                session.is_kept = True
                found = found._replace(session=session.id)
            return found

        workspace = None
        if server.command is not None and self._workspaces is not None:
            workspace = await self._workspaces.open(context)

        async def connect(ask: Ask) -> Any:
            if workspace is not None and self._packages is not None:
                about = server, workspace, run.project_id, run.started_by
                return await self._packages.call(*about, work, again=again, ask=ask)
            use = self._connections.use
            return await use(place_of(server), run.project_id, run.started_by, work, ask, session)

        try:
            found = await self.calls.begin(context.effect_id, connect)
        finally:
            progress.is_over = True
        return await self._taken(tool, found)

    async def _collect(
        self,
        tool: OfferedTool,
        context: Context,
        task: dict[str, Any],
        wanted: Wanted | None,
        answers: Answers,
        answered: Collection[str],
    ) -> ToolResult | Kept:
        """The result of a call that has become a task, or what the task wants to know of a person."""
        server, begun, run = await self._db.read(store.server_of, tool.server_id), begun_in(task), context.this_run
        workspace = None
        if server.command is not None and self._workspaces is not None:
            workspace = await self._workspaces.open(context)
        await anyio.to_thread.run_sync(import_module, "outlast.kernel.mcp.sdk")

        async def reach(work: Callable[["ClientSession"], Awaitable[Any]], ask: Ask, is_new: bool) -> Any:
            if workspace is not None and self._packages is not None:
                about = server, workspace, run.project_id, run.started_by
                return await self._packages.call(*about, work, again=True, ask=ask)
            session = Session() if is_new else Session(begun.session, begun.version, is_kept=True)
            use = self._connections.use
            return await use(place_of(server), run.project_id, run.started_by, work, ask, session)

        call = TaskCall(context, begun, server=tool.server, reach=reach, clock=self._clock, calls=self.calls)
        return await call.collect(wanted, answers, answered)

    async def end_task(self, step_id: str) -> None:
        """End the task of a call whose run was cancelled; a timer's handler, which does not wait for the server.
        Repeating is harmless."""
        found = await self._db.write(to_end, step_id)
        if found is None:
            return
        run_id, task = found
        run, server = await self._db.read(lambda tx: (run_of(tx, run_id), store.server_of(tx, task["server_id"])))
        begun = begun_in(task)

        async def cancel(client: "ClientSession") -> None:
            from outlast.kernel.mcp import sdk_requests as sdk

            await sdk.cancel_task(client, begun.task_id)

        async def end() -> None:
            session = Session(begun.session, begun.version)
            with suppress(OutlastError), anyio.move_on_after(END_S):  # it ends by itself at its server's time
                await self._connections.use(place_of(server), run.project_id, run.started_by, cancel, session=session)

        await self.calls.beside(end)

    async def _answer_live(self, context: Context, answers: Answers) -> Any:
        """What a call at work says to a person's answers; None if its connection ended with an earlier process."""
        call = self.calls.find(context.effect_id)
        if call is None:
            return None
        call.answer(next(iter(answers.values())))
        return await self.calls.follow(context.effect_id, call)

    @staticmethod
    async def _taken(tool: OfferedTool, found: Any) -> ToolResult | Kept:
        """What a server said, as the result or as what is kept."""
        if isinstance(found, Request):
            found = Wanted({"live": found}, "live")
        if isinstance(found, Wanted):
            return kept(found, tool.server)
        if isinstance(found, Begun):
            return kept_task(found, tool.server_id, is_durable=tool.command is None)
        return await anyio.to_thread.run_sync(result_of, found)  # images of megabytes are decoded

    async def _with_account(
        self, context: Context, server_id: str, server: str, url: str, work: Callable[[], Awaitable[T]]
    ) -> T | None:
        """The value of `work`. If it needs an account that the run's user has not connected, they are asked to, and the
        run waits; None if they go on without it."""
        user_id = context.this_run.started_by
        account = AccountData(server_id=server_id, server=server, host=urlsplit(url).hostname or "", user_id=user_id)

        def is_connected(tx: Tx) -> bool:
            return accounts.is_connected(tx, user_id, server_id)

        return await context.journal.with_account(account, work, is_connected)

    def _is_old(self, server: McpServerRow, context: Context) -> bool:
        after = timedelta(seconds=self._connections.settings.relist_after_s)
        if server.command is not None:  # its contents are pinned
            return False
        return server.listed_at is None or server.listed_at + after <= context.journal.now()

    async def _list_again(self, client: "ClientSession", tool: OfferedTool) -> None:
        """Keep what the server lists now. Raises `McpToolChanged` if that is not the tool that was allowed."""
        found, _ = bounded(await self._connections.list_tools(client), self._connections.settings.most_tools)
        await self._db.write(store.put_listing, tool.server_id, found)
        now = next((one for one in found if one.name == tool.name), None)
        if now is None or now.digest() != tool.digest:
            raise McpToolChanged(
                f"The MCP server {tool.server} changed the tool {tool.name} after it was allowed: it was not called.",
                hint="Those who allow the server's tools have to look at it and allow it again.",
                tool=tool.name,
            )


class McpTool(Tool):
    """An allowed tool of an MCP server. Its server checks the arguments."""

    def __init__(self, offered: OfferedTool, connected: ConnectedTools) -> None:
        definition = Definition(**offered.definition)  # type: ignore[arg-type]  # kept as its own JSON
        shown = f"{offered.server}.{offered.name}"
        hints = definition.annotations

        async def perform(context: Context, arguments: Mapping[str, Any]) -> ToolResult:
            try:
                return await connected.call(offered, context, arguments, self.repeatable)
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
            changes_files=offered.command is not None and not is_read_only(hints),
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


def _no_arguments() -> "type[BaseModel]":
    from outlast.kernel.agents.arguments import Arguments

    return Arguments


def _no_model() -> "type[BaseModel]":
    raise TypeError("A tool of an MCP server has a JSON Schema and no model.")
