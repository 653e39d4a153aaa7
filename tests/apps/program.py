"""The command `outlast`, and its server, with polls in the list of apps: `python -m tests.apps.program serve …`."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

import outlast.apps

outlast.apps.APPS = (*outlast.apps.APPS, "tests.apps.polls")  # type: ignore[misc, assignment]


async def create_table(folder: Path) -> None:
    """A new database with the app's table, which its migration would make."""
    from outlast.base.clock import SystemClock
    from outlast.db.connect import migrate, open_database
    from outlast.kernel.apps import packages, registry

    packages.declare(outlast.apps.APPS)
    (polls,) = registry.load().apps[-1].tables
    database = open_database("sqlite:///outlast.db", folder, SystemClock())
    try:
        await migrate(database)
        await database.write(lambda tx: polls.create(tx.conn))
    finally:
        await database.aclose()


def main() -> None:
    from outlast.__main__ import main as outlast_main

    if sys.argv[1] == "create-table":
        anyio.run(create_table, Path(sys.argv[2]))
    else:
        outlast_main()


if __name__ == "__main__":
    main()
