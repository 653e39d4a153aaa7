"""Whether the server can work: its database, and whether sandboxes can be made on this machine."""

import time
from dataclasses import asdict
from typing import Any, Final

import anyio
import sqlalchemy as sa

from outlast.base.errors import OutlastError
from outlast.core.sandboxes.interface import ProbeReport, SandboxProvider
from outlast.db.database import Database, Tx

PROBE_LIFE_S: Final = 300.0
NO_SANDBOXES: Final = ProbeReport(True, "none", ("The configuration offers no sandboxes.",))


class Readiness:
    """Asked by load balancers and by the page. Holds the last sandbox trial in memory for five minutes."""

    def __init__(self, database: Database, provider: SandboxProvider | None) -> None:
        self._database = database
        self._provider = provider
        self._report: ProbeReport | None = None
        self._probed_at = 0.0
        self._probing = anyio.Lock()

    async def report(self) -> tuple[bool, dict[str, Any]]:
        """Whether requests can be served, and the details. Without sandboxes it still serves: their tools are
        refused."""
        database = await self._try_database()
        sandbox = asdict(await self._try_sandbox())
        ready = database == "ok"
        return ready, {"status": "ok" if ready else "unavailable", "database": database, "sandbox": sandbox}

    async def _try_database(self) -> str:
        try:
            await self._database.read(_touch)
        except OutlastError as error:
            return error.message
        return "ok"

    async def _try_sandbox(self) -> ProbeReport:
        if self._provider is None:
            return NO_SANDBOXES
        async with self._probing:
            if self._report is None or time.monotonic() - self._probed_at > PROBE_LIFE_S:
                self._report = await self._provider.probe()
                self._probed_at = time.monotonic()
            return self._report


def _touch(tx: Tx) -> None:
    tx.execute(sa.text("select 1"))
