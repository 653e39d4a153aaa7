"""Snapshots for operators: a user who can read the data directory needs no permission."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from outlast.base.clock import SystemClock
from outlast.base.data_directory import data_directory, existing_data_directory, node_of
from outlast.base.errors import InvalidSetting, NotFound
from outlast.db.database import Database
from outlast.kernel.cli.admin import in_database
from outlast.kernel.sandboxes.providers import open_provider
from outlast.kernel.sandboxes.settings import NO_SANDBOXES_HINT
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.snapshots.rules import Snapshot
from outlast.kernel.sandboxes.template_files import load_templates
from outlast.kernel.sandboxes.templates import preview_environment
from outlast.kernel.settings import Settings
from outlast_sandbox.interface import Progress

T = TypeVar("T")


def list_snapshots(settings: Settings) -> list[dict[str, Any]]:
    """Newest first, as plain values. Raises `InvalidSetting` if no sandboxes are configured, like all functions
    here."""
    rows, wanted = _with_keeper(settings, SnapshotKeeper.listed)
    return [_plain(row, wanted) for row in rows]


def build_snapshot(settings: Settings, progress: Progress, template: str = "", *, create: bool = False) -> str | None:
    """The name of the ready snapshot; None if nothing is to be installed. Raises `SandboxUnavailable`, `MalformedInput`
    (unknown app template)."""
    known = _with_keeper(settings, lambda keeper: keeper.build(progress, template), create=create)
    return known.name if known else None


def remove_snapshot(settings: Settings, name: str) -> None:
    """Raises `NotFound`, or `Conflict` while a living sandbox was started from it."""
    if not _with_keeper(settings, lambda keeper: keeper.remove(name)):
        raise NotFound(f"The snapshot {name!r} does not exist.", hint="See: outlast snapshots list", name=name)


def _with_keeper(settings: Settings, work: Callable[[SnapshotKeeper], Awaitable[T]], *, create: bool = False) -> T:
    if settings.sandbox is None:
        raise InvalidSetting(
            "No sandboxes are configured, so there are no snapshots.",
            hint=NO_SANDBOXES_HINT,
            setting="sandbox.provider",
        )
    sandbox = settings.sandbox
    folder = (data_directory if create else existing_data_directory)(settings.server.data_dir)

    async def run(database: Database) -> T:
        keeper = SnapshotKeeper(
            database,
            open_provider(sandbox, folder),
            SystemClock(),
            sandbox,
            node_id=node_of(folder),
            templates=load_templates(settings.screens),
            env=preview_environment(sandbox),
        )
        return await work(keeper)

    return in_database(settings, run, create=create)


def _plain(row: Snapshot, wanted: str) -> dict[str, Any]:
    return {
        "name": row.name,
        "state": row.state,
        "configured": row.name == wanted,
        "template": row.template,
        "dependencies": row.recipe["dependencies"],
        "commands": row.recipe["commands"],
        "files": len(row.recipe["files"]),
        "size_bytes": row.size_bytes,
        "created_at": row.created_at.isoformat(),
        "last_used_at": row.last_used_at.isoformat(),
        "error": row.error,
    }
