"""The readiness of the server: its database, and the sandboxes of this machine."""

import time
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

import anyio
import sqlalchemy as sa

from outlast.base.clock import iso
from outlast.base.errors import OutlastError
from outlast.base.supervision.item_guard import SetAside
from outlast.base.supervision.supervisor import Supervisor
from outlast.db.database import Database
from outlast.db.tables import put_fact
from outlast.kernel.postgres_checks import clock_of
from outlast.kernel.set_aside import store
from outlast_sandbox.interface import ProbeReport, SandboxProvider

UNREADY_AFTER_S: Final = 10.0  # the server is not ready if a vital service is down for longer
PROBE_LIFE_S: Final = 300.0
MAX_SHOWN: Final = 100
WRITE_LIFE_S: Final = 5.0  # time for which a successful write proves that the database is writable
ANSWER_S: Final = 5.0  # probes of readiness do not wait much longer
SILENT: Final = f"The database has not answered within {ANSWER_S:.0f} s."
_BEAT: Final = "readiness.beat"  # a key in `meta`
NO_SANDBOXES: Final = ProbeReport(True, "none", ("No sandboxes are configured.",))
UNCHECKED: Final = ProbeReport(True, "unchecked", ("Sandboxes are being checked.",))


class Readiness:
    """Answers load balancers and the web app. Keeps the last check of sandboxes in memory for five minutes."""

    def __init__(
        self, database: Database, provider: SandboxProvider | None, supervisor: Supervisor | None = None
    ) -> None:
        self._database, self._supervisor = database, supervisor
        self._provider = provider
        self._report: ProbeReport | None = None
        self._probed_at = 0.0
        self._written_at = float("-inf")
        self._probing = anyio.Lock()
        self._is_stale = anyio.Event()

    async def run(self) -> None:
        """Check sandboxes whenever a report found the last check too old. Runs until cancelled."""
        while True:
            await self._is_stale.wait()
            await self._try_sandbox()
            self._is_stale = anyio.Event()

    async def report(self, *, verbose: bool = False) -> tuple[bool, dict[str, Any]]:
        """(ready, details). `verbose` adds every service, and the items that are set aside. Without sandboxes the
        server is still ready: their tools are refused. Only a verbose report waits for a check of sandboxes, which
        starts one: others have the result of the last."""
        database = await self._try_database()
        sandbox = asdict(await self._try_sandbox() if verbose else self._last_sandbox())
        down = self._supervisor.down_longer_than(UNREADY_AFTER_S) if self._supervisor is not None else []
        ready = database == "ok" and not down
        status = "ok" if ready else "unavailable"
        found: dict[str, Any] = {"status": status, "database": database, "sandbox": sandbox}
        found["down"] = [one.name for one in down]
        if verbose:
            found |= {"services": self._services(), "set_aside": await self._set_aside(), "clock": self._clock()}
        return ready, found

    def _clock(self) -> dict[str, Any] | None:
        state = clock_of(self._database)
        if state is None:
            return None
        return {"ok": state.is_right, "ahead_s": round(state.ahead_s, 3), "tolerated_s": state.tolerated_s}

    def _services(self) -> list[dict[str, Any]]:
        """The items, without the reasons, since this needs no sign-in."""
        states = self._supervisor.states() if self._supervisor is not None else []
        shown = ("name", "is_vital", "restarts", "code")
        return [{name: getattr(one, name) for name in shown} | {"down_s": round(one.down_s, 1)} for one in states]

    async def _set_aside(self) -> list[dict[str, Any]]:
        """The items, without the reasons, since this needs no sign-in."""
        items: list[SetAside] = []
        with anyio.move_on_after(ANSWER_S), suppress(OutlastError):
            items = await self._database.read(store.listed, MAX_SHOWN)
        return [
            {"kind": one.kind, "id": one.id, "since": iso(one.since), "tries": one.tries, "code": one.code}
            for one in items
        ]

    async def _try_database(self) -> str:
        """Try the database and report the result to the supervisor: an idle server does not check it, so that idling is
        free."""
        trouble: OutlastError | TimeoutError | None = TimeoutError(SILENT)
        with anyio.move_on_after(ANSWER_S):
            trouble = await self._ask_database()
        if self._supervisor is not None:
            self._supervisor.report("database", trouble, vital=True)
        return "ok" if trouble is None else str(trouble)

    async def _ask_database(self) -> OutlastError | None:
        try:
            if time.monotonic() - self._written_at > WRITE_LIFE_S:
                # A full or read-only disk can still be read.
                await self._database.write(lambda tx: put_fact(tx, _BEAT, tx.now.isoformat()))
                self._written_at = time.monotonic()
            else:
                await self._database.read(lambda tx: tx.execute(sa.text("select 1")).scalar())
        except OutlastError as error:
            return error
        return None

    async def _try_sandbox(self) -> ProbeReport:
        if self._provider is None:
            return NO_SANDBOXES
        async with self._probing:
            if self._report is None or self._is_old():
                self._report = await self._provider.probe()
                self._probed_at = time.monotonic()
            return self._report

    def _last_sandbox(self) -> ProbeReport:
        if self._provider is None:
            return NO_SANDBOXES
        if self._report is None or self._is_old():
            self._is_stale.set()
        return self._report or UNCHECKED

    def _is_old(self) -> bool:
        return time.monotonic() - self._probed_at > PROBE_LIFE_S
