"""A page as what a conversation is about: its runs take up what people do on it."""

from collections.abc import Sequence
from typing import Final

from outlast.apps.pages import store, user_action_store
from outlast.apps.pages.copies import copy_page
from outlast.apps.pages.tables import pages
from outlast.base.errors import ThreadOfPage
from outlast.db.database import Tx
from outlast.kernel.subjects.subject import RunHooks, Subject


class PageRuns(RunHooks):
    """See `RunHooks`."""

    def on_start(self, tx: Tx, thread_id: str) -> None:
        store.touch(tx, thread_id)

    def on_take_up(self, tx: Tx, thread_id: str, run_id: str) -> None:
        user_action_store.take(tx, thread_id, run_id)

    def on_end(self, tx: Tx, thread_id: str, run_id: str, status: str, problems: Sequence[str], *, begun: bool) -> None:
        user_action_store.end(tx, thread_id, run_id, status, problems, begun=begun)

    def on_again(self, tx: Tx, thread_id: str, from_run_id: str, to_run_id: str) -> None:
        user_action_store.hand_on(tx, thread_id, from_run_id, to_run_id)


PAGE: Final = Subject(
    noun="page",
    table=pages,
    thread_does="belongs to",
    thread_error=ThreadOfPage,
    announce=store.announce,
    fork=copy_page,
    runs=PageRuns(),
)
