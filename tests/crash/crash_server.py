"""The command `outlast`, with a database that can be told to kill the process: `python -m tests.crash.crash_server
serve …`. The environment says where: `OUTLAST_CRASH_POINT_FILE`, and `OUTLAST_CRASH_COMMITS_FILE` for the labels of
all commits (see `tests.crash.crash_database`); `OUTLAST_CRASH_STAGED=1` gives the agent `chat` stages,
`OUTLAST_CRASH_BLOCKING=1` a tool that blocks the event loop, which may last `blocking_chat.LOST_S`, and
`OUTLAST_CRASH_FLOWS=1` makes it a flow, `OUTLAST_CRASH_GUEST` the guest of that module. `OUTLAST_CRASH_CLOCK` sets the
server's clock ahead. An event loop that stands still is a line of the log (see `tests.lag`)."""

import gc
import os
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path

from outlast.__main__ import main as run
from outlast.base.clock import Clock, SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast.db.postgres_options import PostgresOptions
from tests.crash.crash_database import BLOCKING, CLOCK, COMMITS_FILE, FLOWS, GUEST, POINT_FILE, STAGED, CrashingDatabase


class ShiftedClock(SystemClock):
    """The machine's clock, so many seconds ahead."""

    def __init__(self, ahead_s: float) -> None:
        self._ahead = timedelta(seconds=ahead_s)

    def now(self) -> datetime:
        return super().now() + self._ahead


def _open_crashing(url: str, data_dir: Path, clock: Clock, options: PostgresOptions | None = None) -> Database:
    commits = os.environ.get(COMMITS_FILE)
    inner = open_database(url, data_dir, clock, options)
    return CrashingDatabase(inner, Path(os.environ[POINT_FILE]), Path(commits) if commits else None)


def main() -> None:
    """The command `outlast`, as the environment wants it."""
    gc.disable()  # as `run` does while it imports the program; it enables it again
    from outlast import app
    from outlast.apps.chat import agent
    from tests.crash import flows_chat
    from tests.crash.staged_chat import staged_chat
    from tests.lag import run_logging_stalls

    app.open_database = _open_crashing  # type: ignore[attr-defined]  # imported there by name
    app.run_program = partial(run_logging_stalls, app.run_program)
    if ahead := os.environ.get(CLOCK):
        app.SystemClock = partial(ShiftedClock, float(ahead))  # type: ignore[attr-defined,assignment]
    if os.environ.get(STAGED) == "1":
        agent.chat_agent = staged_chat
    if os.environ.get(BLOCKING) == "1":
        from outlast.base.supervision import loop_watch
        from tests.crash import blocking_chat

        agent.chat_agent = blocking_chat.blocking_chat
        loop_watch.LOST_S = blocking_chat.LOST_S  # type: ignore[misc]
    if os.environ.get(FLOWS) == "1":
        agent.open_app = flows_chat.open_app
    if os.environ.get(GUEST):
        agent.open_app = import_module(os.environ[GUEST]).open_app
    run()


if __name__ == "__main__":
    main()
