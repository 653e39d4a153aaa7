"""Pages as a subject of conversations: their runs take the actions of people."""

from typing import Final

from outlast.apps.pages import store
from outlast.apps.pages.copies import copy_page
from outlast.apps.pages.tables import pages
from outlast.apps.pages.user_action_store import PageRuns
from outlast.base.errors import ThreadOfPage
from outlast.kernel.subjects.subject import Subject

PAGE: Final = Subject(
    noun="page",
    table=pages,
    thread_does="belongs to",
    thread_error=ThreadOfPage,
    announce=store.announce,
    fork=copy_page,
    runs=PageRuns(),
)
