"""`web_search` and `web_fetch` of this server. What they return is written by others: results are JSON, a page is
between tags that it cannot close."""

from typing import Final

import orjson

from outlast.apps.web.page_reader import PageReader
from outlast.apps.web.search.service import SearchFailed, SearchService
from outlast.kernel.agents.prompt_tags import PromptTags
from outlast.kernel.agents.sources import Source
from outlast.kernel.agents.tool import Tool, ToolResult
from outlast.kernel.agents.tools.web import web_fetch_tool, web_search_tool
from outlast.kernel.web.http_fetch import NotRead

PORTION_CHARS: Final = 20_000
NOTHING: Final = "Nothing was found. Try fewer or other words."
PAST_THE_END: Final = "The page has only {chars} characters: nothing is left at this offset."
MORE: Final = "[{left} more characters: read on with offset={offset}]"


def search_tool(service: SearchService, results: int) -> Tool:
    """`web_search`; a call returns at most `results` pages."""

    async def search(query: str) -> ToolResult:
        try:
            found = await service.search(query, results)
        except SearchFailed as error:
            return ToolResult(str(error), is_error=True)
        if not found:
            return ToolResult(NOTHING)
        told = [{"title": one.title, "url": one.url, "excerpt": one.excerpt} for one in found]
        content = orjson.dumps({"results": told}, option=orjson.OPT_INDENT_2).decode()
        return ToolResult(content, sources=tuple(Source(one.url, one.title) for one in found))

    return web_search_tool(search)


def fetch_tool(reader: PageReader) -> Tool:
    """`web_fetch`; a call returns at most `PORTION_CHARS` of a page."""

    async def fetch(url: str, offset: int) -> ToolResult:
        try:
            page = await reader.read(url)
        except NotRead as error:
            return ToolResult(f"{error}.", is_error=True)
        if offset and offset >= len(page.text):
            return ToolResult(PAST_THE_END.format(chars=len(page.text)), is_error=True)
        portion = page.text[offset : offset + PORTION_CHARS]
        tags = PromptTags.around([portion])
        told = [tags.put("document", portion, url=page.url, title=page.title or None)]
        left = len(page.text) - offset - len(portion)
        if left:
            told.append(MORE.format(left=left, offset=offset + len(portion)))
        if page.trouble or not page.text.strip():
            told.append(f"[{page.trouble or 'The page has no text.'}]")
        return ToolResult("\n".join(told), sources=(Source(page.url, page.title),))

    return web_fetch_tool(fetch)
