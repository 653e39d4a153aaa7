"""No exception of a task ends the server: which tasks are started, and where anything at all is caught.

A task goes through the supervisor (`keep`, `start`) or the item guard (`once`, `attempt`, `keep`), which never raise.
Every other one is named here, with where its errors go. A new one is not: start it through one of the two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (ROOT / "src" / "outlast", *sorted((ROOT / "packages").glob("*/src")))
APART = (
    "testing/",
    "base/supervision/",
    "outlast_sandbox/providers/local/inside/",
    "outlast_sandbox/providers/memory.py",
)
GROUPS = {"group", "tasks", "_group", "_tasks"}
SAFE = {"attempt", "attempt_now", "keep", "once"}

REQUEST = "lives in a request or a tool call, whose caller answers its errors"
PART = "a part of one service or item, which fails and is tried again as a whole"
GUARDED = "its own body is the supervisor or the item guard"
STOP = "the stop of the program"
COMMAND = "a command of the CLI"
TASKS = {
    "kernel/sandboxes/actions.py list_sandboxes": REQUEST,
    "apps/screens/agent/checks.py Checker._types_and_page": REQUEST,
    "app.py _serve": PART,
    "app.py _start_inner": GUARDED,
    "app.py _stop": STOP,
    "base/clock.py wait_at_most": PART,
    "apps/knowledge/readers/web.py WebReader._pages": PART,
    "apps/knowledge/search.py Knowledge._cosines": REQUEST,
    "apps/knowledge/search.py Knowledge._look": REQUEST,
    "kernel/runs/tool_calls.py call_tools": PART,
    "kernel/runs/journal.py RunJournal.gather": PART,
    "kernel/runs/line_stream.py stream_lines": PART,
    "outlast_sandbox/browser/agent_browsers.py AgentBrowsers._begin": REQUEST,
    "outlast_sandbox/browser/agent_browsers.py AgentBrowsers._keep": PART,
    "outlast_sandbox/browser/agent_browsers.py AgentBrowsers.run": PART,
    "outlast_sandbox/browser/browsers.py Browsers._live": PART,
    "outlast_sandbox/browser/browsers.py Browsers._until_over": PART,
    "outlast_sandbox/browser/browsers.py Browsers.take": REQUEST,
    "outlast_sandbox/browser/single_target_proxy.py _splice": PART,
    "outlast_sandbox/checkpoints/folder_save.py _Work.save_all": PART,
    "kernel/sandboxes/disk_guard.py DiskGuard._look": GUARDED,
    "outlast_sandbox/egress/snapshot_build_proxy.py serve_allow_list": PART,
    "kernel/sandboxes/egress/keeper.py EgressKeeper.open": GUARDED,
    "outlast_sandbox/egress/http_exchange.py Passage._run_both_ways": REQUEST,
    "outlast_sandbox/egress/proxy.py SandboxProxy.serve": REQUEST,
    "outlast_sandbox/egress/tunnel.py join": REQUEST,
    "outlast_sandbox/egress/way_out.py Egress.proxy": PART,
    "outlast_sandbox/providers/docker/provider.py unless_ended": REQUEST,
    "outlast_sandbox/providers/hosted/handle.py HostedSandbox._repeat_steadily": REQUEST,
    "outlast_sandbox/providers/hosted/handle.py HostedSandbox.statistics": REQUEST,
    "outlast_sandbox/providers/hosted/splice.py _carry": PART,
    "outlast_sandbox/providers/hosts/provider.py HostsProvider._candidates": REQUEST,
    "outlast_sandbox/providers/local/snapshot_build.py Build._sandbox": PART,
    "kernel/webhooks/sender.py Sender._begin_due": GUARDED,
    "kernel/mcp/tools.py ConnectedTools.prepare": PART,
    "kernel/mcp/live_calls.py LiveCalls.begin": GUARDED,
    "kernel/mcp/live_calls.py LiveCalls.beside": GUARDED,
    "kernel/mcp/package_network.py PackageNetwork.serving": PART,
    "kernel/mcp/package_servers.py PackageServers._ready": GUARDED,
    "kernel/mcp/sandbox_transport.py _transport": PART,
    "kernel/sandboxes/leases.py Leases._kept": PART,
    "kernel/sandboxes/other_servers.py OtherServers._check_soon": PART,
    "kernel/sandboxes/services/keeper.py ServiceKeeper._begin": GUARDED,
    "kernel/sandboxes/services/keeper.py ServiceKeeper._live": PART,
    "kernel/sandboxes/snapshots/keeper.py SnapshotKeeper._build_reporting": PART,
    "kernel/streams/writer.py Flusher.run": PART,
    "kernel/streams/live/database.py DatabaseLive._read_all": PART,
    "kernel/streams/live/database.py DatabaseLive.run": PART,
    "kernel/streams/live/redis_carrier.py RedisCarrier.run": PART,
    "kernel/presence/news.py PresenceNews.run": PART,
    "kernel/cli/run_follow.py _open_prompt": COMMAND,
    "outlast_demo/tracker/service.py Tracker.run": PART,
    "kernel/previews/proxy.py Proxy._pass": REQUEST,
    "kernel/previews/tunnel.py pass_bytes": REQUEST,
    "apps/documents/agent_run_routes.py run_agent_and_wait": REQUEST,
    "surfaces/http/server.py HttpServer.run_until_stopped": PART,
    "kernel/http/event_stream.py EventStream._serve": REQUEST,
    "surfaces/protocols/e2b/connect.py StreamAnswer.__call__": REQUEST,
    "surfaces/protocols/e2b/connect.py pinging": REQUEST,
}

PLUG_IN = "code of somebody else"
TRANSACTION = "told to whoever asked for the transaction"
CLEAN_UP = "after an effect whose result is recorded: logged"
EFFECT = "the edge of an effect: told to the model, or recorded with the run"
UNWRAPPED = "carried out of a task group, so that it is raised without the group"
CACHE = "a cache or an index that can be made again"
HOOK = "undone in a savepoint and noted among the run's problems: the run ends all the same"
CATCHES = {
    "kernel/attachments/read_program.py _lines": PLUG_IN,
    "kernel/attachments/read_program.py _pages": PLUG_IN,
    "kernel/files/pdf_text.py _lines": PLUG_IN,
    "kernel/agents/guests/pydantic_ai/leg.py _play": EFFECT,
    "kernel/agents/own_agents.py _refusing": PLUG_IN,
    "apps/knowledge/saved_indexes.py is_kept": CACHE,
    "apps/knowledge/saved_indexes.py load": CACHE,
    "apps/knowledge/search.py _compared": REQUEST,
    "apps/knowledge/search.py Knowledge._vector": REQUEST,
    "kernel/runs/tool_calls.py _perform": EFFECT,
    "kernel/runs/flow_run.py perform_flow": EFFECT,
    "kernel/runs/function_sandbox.py FunctionSandbox._changed": CLEAN_UP,
    "kernel/runs/guest_journal.py GuestJournal.call": "raised again, unless the guest was ended",
    "kernel/runs/journal.py RunJournal._outcome": EFFECT,
    "kernel/runs/journal.py RunJournal._write": EFFECT,
    "kernel/runs/journal.py RunJournal.call": "raised again, unless the function waits",
    "kernel/runs/journal.py RunJournal.gather.work": UNWRAPPED,
    "kernel/runs/tool_calls.py clean_up": CLEAN_UP,
    "kernel/runs/stages.py _try_once": EFFECT,
    "kernel/runs/compaction.py _ask": EFFECT,
    "kernel/runs/finishers.py finish": HOOK,
    "kernel/subjects/hooks.py call_guarded": HOOK,
    "kernel/runs/line_stream.py _take_in": EFFECT,
    "kernel/runs/line_stream.py stream_lines": UNWRAPPED,
    "kernel/runs/line_stream.py stream_lines.read": UNWRAPPED,
    "kernel/runs/worker.py Worker._work": "the edge of a leg: its run is ended, or tried again",
    "kernel/sandboxes/egress/secret_lookup.py open_lookup": PLUG_IN,
    "outlast_sandbox/browser/agent_browsers.py AgentBrowsers._ask_over": "logged, and asked again",
    "outlast_sandbox/browser/agent_browsers.py AgentBrowsers._keep": "logged, or passed to the call for the page",
    "outlast_sandbox/browser/browsers.py Browsers._keep": "logged, and told to whoever asked for the picture",
    "outlast_sandbox/egress/http_exchange.py Passage._run_both_ways": UNWRAPPED,
    "outlast_sandbox/egress/proxy.py SandboxProxy._take": REQUEST,
    "outlast_sandbox/egress/secrets.py SandboxSecrets.value": PLUG_IN,
    "kernel/mcp/connection.py McpConnections._use": PLUG_IN,
    "kernel/mcp/live_calls.py LiveCalls._keep": "raised again by the leg of the call",
    "kernel/mcp/live_calls.py LiveCalls.beside.guarded": "logged: nothing waits for it",
    "kernel/mcp/output_schemas.py breach": PLUG_IN,
    "kernel/mcp/package_servers.py PackageServers._install": PLUG_IN,
    "kernel/mcp/package_servers.py PackageServers._keep": PLUG_IN,
    "kernel/mcp/package_servers.py PackageServers._work": PLUG_IN,
    "outlast_sandbox/providers/deno/service.py call_sdk": PLUG_IN,
    "outlast_sandbox/providers/e2b/service.py _unless_cancelled": "raised again, unless it was a cancellation",
    "outlast_sandbox/providers/e2b/service.py call_sdk": PLUG_IN,
    "outlast_sandbox/providers/hosted/handle.py HostedSandbox._repeat_steadily": UNWRAPPED,
    "outlast_sandbox/providers/hosted/handle.py HostedSandbox.statistics": UNWRAPPED,
    "outlast_sandbox/providers/registry.py _load": PLUG_IN,
    "kernel/sandboxes/leases.py Leases._kept": UNWRAPPED,
    "kernel/sandboxes/snapshots/keeper.py SnapshotKeeper._build_reporting": PLUG_IN,
    "kernel/streams/channel.py _takes": "one visitor's connection: its own follower is woken and meets the same",
    "kernel/streams/writer.py _flush": "noticed by its leg, whose next record fails the same way",
    "kernel/sidecars.py wanted_sidecars": PLUG_IN,
    "db/database.py _call": "after a commit: logged, and nobody who waits for the transaction is held up",
    "db/postgres.py PostgresDatabase._transact": TRANSACTION,
    "db/sqlite.py SqliteDatabase.__init__": "told as the error that it is, to whoever opens the database",
    "db/sqlite.py SqliteDatabase._commit_group": TRANSACTION,
    "db/sqlite.py SqliteDatabase._read_loop": TRANSACTION,
    "db/sqlite.py _run_job": TRANSACTION,
    "surfaces/http/middleware.py RequestGuard.__call__": REQUEST,
    "apps/pages/embeds/pages_layer.py PagesLayer.__call__": REQUEST,
    "kernel/previews/preview_layer.py _Visit.serve": REQUEST,
    "surfaces/protocols/e2b/files.py _Form._next": REQUEST,
}


@cache
def nodes() -> tuple[tuple[str, ast.AST, ast.AST | None], ...]:
    """Every node of the program with the place it stands in, as file and dotted function, and its parent."""
    names = {path: path.relative_to(source).as_posix() for source in SOURCES for path in sorted(source.rglob("*.py"))}
    return tuple(
        found
        for path, name in names.items()
        if not name.startswith(APART)
        for found in below(ast.parse(path.read_text()), name, (), None)
    )


def below(
    node: ast.AST, file: str, scope: tuple[str, ...], parent: ast.AST | None
) -> Iterator[tuple[str, ast.AST, ast.AST | None]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        scope = (*scope, node.name)
    yield f"{file} {'.'.join(scope)}", node, parent
    for child in ast.iter_child_nodes(node):
        yield from below(child, file, scope, node)


def name_of(node: ast.AST | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def starts_a_task(node: ast.AST) -> bool:
    """Also where `start_soon` is handed over as a function."""
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr == "start_soon" or (node.attr == "start" and name_of(node.value) in GROUPS)


def is_safe(parent: ast.AST | None) -> bool:
    return isinstance(parent, ast.Call) and bool(parent.args) and name_of(parent.args[0]) in SAFE


def catches_everything(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(kind is None or name_of(kind) == "Exception" for kind in kinds)


def test_every_task_goes_through_the_supervisor_or_the_item_guard_or_is_named_here() -> None:
    found = {place for place, node, parent in nodes() if starts_a_task(node) and not is_safe(parent)}
    assert sorted(found) == sorted(TASKS)


def test_anything_at_all_is_caught_by_the_supervisor_and_the_item_guard_or_where_it_is_named_here() -> None:
    assert sorted({place for place, node, _ in nodes() if catches_everything(node)}) == sorted(CATCHES)


def test_the_check_is_not_blind() -> None:
    program = "def f(tasks, guard):\n    tasks.start_soon(work)\n    tasks.start_soon(guard.once, 'a', 'b', work)\n"
    found = [is_safe(parent) for _, node, parent in below(ast.parse(program), "f.py", (), None) if starts_a_task(node)]
    assert found == [False, True]
