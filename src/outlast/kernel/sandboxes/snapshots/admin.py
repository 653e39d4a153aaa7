"""Snapshots for operators: whoever can read the data directory needs no permission."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

from outlast.base.clock import SystemClock
from outlast.base.data_directory import data_directory, existing_data_directory, node_of
from outlast.base.errors import InvalidSetting, NotFound
from outlast.base.settings import Settings
from outlast.kernel.cli.admin import opened
from outlast.kernel.sandboxes.providers import open_provider
from outlast.kernel.sandboxes.snapshots.keeper import SnapshotKeeper
from outlast.kernel.sandboxes.snapshots.store import SnapshotRecord
from outlast.kernel.sandboxes.template_files import load_templates
from outlast.kernel.sandboxes.templates import preview_environment
from outlast_sandbox.interface import Progress

T = TypeVar("T")


class SnapshotAdmin:
    """Each call opens the database and the provider, and closes them. Raises `InvalidSetting` where no sandboxes are
    configured."""

    def __init__(self, settings: Settings, *, create: bool = False) -> None:
        self._settings, self._create = settings, create

    def listed(self) -> list[dict[str, Any]]:
        """Newest first, as plain values."""

        async def work(keeper: SnapshotKeeper) -> list[dict[str, Any]]:
            rows, wanted = await keeper.listed()
            return [_plain(row, wanted) for row in rows]

        return self._with_keeper(work)

    def build(self, told: Progress, template: str = "") -> str | None:
        """The name of what is ready; None when nothing is to be installed. Raises `SandboxUnavailable`,
        `MalformedInput` (no such app template)."""

        async def work(keeper: SnapshotKeeper) -> str | None:
            known = await keeper.build(told, template)
            return known.name if known else None

        return self._with_keeper(work)

    def remove(self, name: str) -> None:
        """Raises `NotFound`, or `Conflict` while a living sandbox was started from it."""

        async def work(keeper: SnapshotKeeper) -> None:
            if not await keeper.remove(name):
                raise NotFound(
                    f"There is no snapshot {name!r}.", hint="See: outlast snapshot list", name=name
                )

        self._with_keeper(work)

    def _with_keeper(self, work: Callable[[SnapshotKeeper], Awaitable[T]]) -> T:
        settings = self._settings
        if settings.sandbox is None:
            raise InvalidSetting(
                "No sandboxes are configured, so there are no snapshots.",
                hint='Set provider = "local" in the section [sandbox].',
                setting="sandbox.provider",
            )
        sandbox = settings.sandbox

        async def run() -> T:
            find = data_directory if self._create else existing_data_directory
            folder = find(settings.server.data_dir)
            provider = open_provider(sandbox, folder)
            async with opened(settings, create=self._create) as database:
                keeper = SnapshotKeeper(
                    database,
                    provider,
                    SystemClock(),
                    sandbox,
                    node_id=node_of(folder),
                    templates=load_templates(settings.screens),
                    env=preview_environment(sandbox),
                )
                return await work(keeper)

        return anyio.run(run)


def _plain(row: SnapshotRecord, wanted: str) -> dict[str, Any]:
    known = row.known
    return {
        "name": known.name,
        "state": known.state.value,
        "configured": known.name == wanted,
        "template": row.template,
        "dependencies": list(row.dependencies),
        "commands": list(row.commands),
        "files": row.files,
        "size_bytes": row.size_bytes,
        "created_at": row.created_at.isoformat(),
        "last_used_at": known.last_used_at.isoformat(),
        "error": known.error,
    }
