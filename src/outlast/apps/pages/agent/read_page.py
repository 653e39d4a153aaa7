"""`read_page`: the current HTML of an element, for pages that are too long to show whole."""

from typing import Annotated, Final

import anyio.to_thread
from pydantic import Field

from outlast.apps.pages.store import page_of_thread
from outlast.apps.pages.tree import Tree, outer_html
from outlast.base.errors import NotFound
from outlast.db.database import Database
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.tool import Tool, ToolResult, tool

SHOWN_CHARS: Final = 16_000


At = Annotated[str, Field(min_length=1, max_length=129, description="#id of an element, or page.")]
After = Annotated[int, Field(ge=0, description="Continue after this many characters.")]


def read_page_tool(db: Database) -> Tool:
    """`read_page` for the page of a run's thread."""

    @tool(repeatable=True)
    async def read_page(ctx: Context, at: At = "page", after: After = 0) -> ToolResult:
        """Read the current HTML of an element of the page, or of all of it: where the page in your prompt is
        cut, or to see the result of your lines. Long HTML comes in pieces."""
        page = await db.read(page_of_thread, ctx.this_run.thread_id)
        if page is None:
            raise NotFound("This page was deleted.", thread_id=ctx.this_run.thread_id)
        html = await anyio.to_thread.run_sync(_html_of, page.html, at)
        if html is None:
            return ToolResult(f"There is no element {at} on the page.", is_error=True)
        shown = html[after : after + SHOWN_CHARS]
        left = len(html) - after - len(shown)
        more = f"\n[{left:,} more characters: after={after + len(shown)}]" if left > 0 else ""
        return ToolResult((shown or "(nothing)") + more)

    return read_page


def _html_of(html: str, at: str) -> str | None:
    if at == "page":
        return html
    element = Tree(html).find(at.removeprefix("#"))
    return None if element is None else outer_html(element)
