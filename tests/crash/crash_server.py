"""The command `outlast`, with a database that can be told to kill the process: `python -m tests.crash.crash_server
serve …`. The environment says where: `OUTLAST_CRASH_POINT_FILE`, and `OUTLAST_CRASH_COMMITS_FILE` for the labels of
all commits (see `tests.crash.crash_database`); `OUTLAST_CRASH_STAGED=1` gives the agent `chat` stages,
`OUTLAST_CRASH_BLOCKING=1` a tool that blocks the event loop, which may last `blocking_chat.LOST_S`, and
`OUTLAST_CRASH_FLOWS=1` makes it a flow, `OUTLAST_CRASH_GUEST` the guest of that module. An event loop that stands
still is a line of the log (see `tests.lag`)."""

import gc
import os
from functools import partial
from importlib import import_module
from pathlib import Path

from outlast.__main__ import main as run
from outlast.base.clock import Clock
from outlast.db.connect import open_database
from outlast.db.database import Database
from tests.crash.crash_database import BLOCKING, COMMITS_FILE, FLOWS, GUEST, POINT_FILE, STAGED, CrashingDatabase


def _open_crashing(url: str, data_dir: Path, clock: Clock) -> Database:
    commits = os.environ.get(COMMITS_FILE)
    inner = open_database(url, data_dir, clock)
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
