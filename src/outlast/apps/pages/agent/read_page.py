"""`read_page`: an element of the page as it is now, for pages that are too long to be told whole."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import anyio.to_thread
from pydantic import Field

from outlast.apps.pages.store import page_of_thread
from outlast.apps.pages.tree import Tree, outer_html
from outlast.base.errors import NotFound
from outlast.db.database import Database
from outlast.kernel.agents.tools.base import Arguments, ToolBase
from outlast.kernel.runs.profile import ToolContext, ToolResult

SHOWN_CHARS: Final = 16_000


class ReadPageArguments(Arguments):
    at: str = Field("page", min_length=1, max_length=129, description="#id of an element, or page.")
    after: int = Field(0, ge=0, description="Go on after so many characters of it.")


class ReadPage(ToolBase):
    name: ClassVar[str] = "read_page"
    description: ClassVar[str] = (
        "Read the HTML of an element of the page, or of all of it, as it is now: where the page that you were told was "
        "cut, or to see what your lines have made of it. Long ones come in pieces."
    )
    arguments: ClassVar[type[Arguments]] = ReadPageArguments
    repeatable: ClassVar[bool] = True

    def __init__(self, db: Database) -> None:
        self._db = db

    async def run(self, context: ToolContext, arguments: Mapping[str, Any]) -> ToolResult:
        asked = ReadPageArguments.model_validate(dict(arguments))
        page = await self._db.read(page_of_thread, context.run.thread_id)
        if page is None:
            raise NotFound("This page was deleted.", thread_id=context.run.thread_id)
        html = await anyio.to_thread.run_sync(_html_of, page["html"], asked.at)
        if html is None:
            return ToolResult(f"There is no element {asked.at} on the page.", is_error=True)
        shown = html[asked.after : asked.after + SHOWN_CHARS]
        left = len(html) - asked.after - len(shown)
        more = f"\n[{left:,} more characters: after={asked.after + len(shown)}]" if left > 0 else ""
        return ToolResult((shown or "(nothing)") + more)


def _html_of(html: str, at: str) -> str | None:
    if at == "page":
        return html
    element = Tree(html).find(at.removeprefix("#"))
    return None if element is None else outer_html(element)
