"""The results of a completed screen run: title, files, problems and picture, written in the run's last
transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.apps.screens import store as screens
from outlast.apps.screens.agent.tags import Outcome, merge_files, parse_outcome
from outlast.apps.screens.rows import ScreenRow
from outlast.apps.screens.shapes import ScreenFile
from outlast.db.database import Tx
from outlast.kernel.runs.transcript import Run
from outlast.kernel.threads.rows import ThreadRow
from outlast.kernel.threads.search_index import set_title
from outlast.kernel.threads.tables import threads


def save_screen(tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> None:
    """Write the title and files from the answer, unless a person has named the screen, and the result of the check. The
    end of the run announces it."""
    found = screens.screen_of_thread(tx, run.thread_id)
    if found is None:  # deleted meanwhile, with its thread
        return
    screen = screens.hold(tx, found.id)
    outcome = parse_outcome("\n\n".join(part["text"] for part in parts if part["type"] == "text"))
    before = [ScreenFile(**file) for file in screen.files]
    values = {
        **_titled(tx, run, screen, outcome),
        "files": [file.model_dump() for file in merge_files(before, outcome.files, facts.get("gone", ()))],
        "problems": list(facts.get("problems", ())),
    }
    if facts.get("picture_id"):
        values |= {"picture_id": facts["picture_id"], "pictured_at": tx.now}
    screens.update(tx, screen.id, **values)


def _titled(tx: Tx, run: Run, screen: ScreenRow, outcome: Outcome) -> dict[str, Any]:
    """The agent's title, unless a person chose one; the thread gets the same title."""
    if outcome.title is None or screen.named:
        return {}
    thread = tx.find(ThreadRow, threads, {"id": run.thread_id})
    if thread is not None and not thread.titled:
        set_title(tx, run.thread_id, thread.project_id, outcome.title)
    return {"title": outcome.title}
