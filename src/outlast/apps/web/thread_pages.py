"""What the `browser_…` tools of this server do. What a page says is between tags that it cannot close."""

from typing import Final

from outlast.apps.web.settings import WebSettings
from outlast.apps.web.store import permitted_sites
from outlast.base.errors import MalformedInput
from outlast.db.database import Database
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.images import Image
from outlast.kernel.agents.prompt_tags import PromptTags
from outlast.kernel.agents.sources import Source
from outlast.kernel.agents.tool import ToolResult
from outlast.kernel.agents.tools.browser import site_of
from outlast.kernel.agents.workspaces import Workspaces, find_workspace
from outlast.kernel.http.web_addresses import allowed_addresses, checked_address
from outlast.kernel.sandboxes.translation import untranslated
from outlast_sandbox.browser.agent_browsers import AgentBrowsers, Step, StepFailed
from outlast_sandbox.browser.web_page import Sight, WebPage
from outlast_sandbox.egress.dialer import DialInside
from outlast_sandbox.egress.rules import is_loopback

SHORT_CHARS: Final = 6_000  # of the text after a step; `browser_read` has the rest
PORTION_CHARS: Final = 20_000
ALT_CHARS: Final = 120
MORE: Final = "[{left} more characters: browser_read with offset={offset}]"
PAST_THE_END: Final = "The page has only {chars} characters: nothing is left at this offset."
NO_SANDBOX: Final = "This thread has no sandbox, so nothing can be served there. Open a public address."
MAY_NOT: Final = (
    "Not done: you may not click or type on {site} yet. Call browser_permission with this site first. To follow a link, "
    "open its address with browser_open."
)
NO_SITE: Final = "Not done: this page has no address on the web. Open one first."
GRANTED: Final = "You may click and type on {site} in this thread."


class ThreadPages:
    """Implements `BrowserActions`: one page for each thread."""

    def __init__(self, browsers: AgentBrowsers, database: Database, workspaces: Workspaces, settings: WebSettings) -> None:
        self._browsers, self._db, self._workspaces = browsers, database, workspaces
        self._allowed = allowed_addresses(settings.allow_private)
        self._reachable = _WithLoopback(self._allowed)

    async def open(self, ctx: Context, url: str) -> ToolResult:
        try:
            inside = await self._checked(ctx, url)
        except MalformedInput as error:
            return ToolResult(f"{error.message} {error.hint}".strip(), is_error=True)
        except StepFailed as error:
            return ToolResult(str(error), is_error=True)

        async def step(page: WebPage) -> None:
            await page.open(url)

        return await self._do(ctx, step, SHORT_CHARS, opens=True, inside=inside)

    async def read(self, ctx: Context, offset: int) -> ToolResult:
        return await self._do(ctx, _look(None), PORTION_CHARS, offset)

    async def picture(self, ctx: Context, element: int | None) -> ToolResult:
        return await self._do(ctx, _look(element), 0)

    async def permission(self, ctx: Context, site: str) -> ToolResult:
        return ToolResult(GRANTED.format(site=site))

    async def click(self, ctx: Context, element: int) -> ToolResult:
        async def step(page: WebPage) -> None:
            await self._require_permission(ctx, await page.address())
            await page.click(element)

        return await self._do(ctx, step, SHORT_CHARS)

    async def type(self, ctx: Context, element: int, text: str, submit: bool) -> ToolResult:
        async def step(page: WebPage) -> None:
            await self._require_permission(ctx, await page.address())
            await page.type(element, text, submit)

        return await self._do(ctx, step, SHORT_CHARS)

    async def _do(
        self,
        ctx: Context,
        step: Step,
        chars: int,
        offset: int = 0,
        *,
        opens: bool = False,
        inside: DialInside | None = None,
    ) -> ToolResult:
        thread_id, run_id = ctx.this_run.thread_id, ctx.this_run.id

        async def stop() -> None:
            self._browsers.close(thread_id)

        ctx.on_cancel(stop)
        try:
            if opens:
                sight = await self._browsers.open(thread_id, run_id, step, ctx.show, inside)
            else:
                sight = await self._browsers.step(thread_id, run_id, step)
        except StepFailed as error:
            return ToolResult(str(error), is_error=True)
        return render_sight(sight, chars, offset)

    async def _checked(self, ctx: Context, url: str) -> DialInside | None:
        """Checks an address; a loopback one leads to the thread's sandbox. Raises `MalformedInput`, `StepFailed`."""
        if not self._is_own_sandbox(url):
            return None
        run = ctx.this_run
        if run.workspace_id is None and await self._db.read(find_workspace, run.thread_id) is None:
            raise StepFailed(NO_SANDBOX)
        opened = await self._workspaces.open(ctx)
        return untranslated(opened.sandbox).dial

    def _is_own_sandbox(self, url: str) -> bool:
        """Raises `MalformedInput` for an address that may not be opened."""
        address = checked_address(url, self._reachable, thing="the page", example="https://example.com/")
        return is_loopback(address.host) and address not in self._allowed

    async def _require_permission(self, ctx: Context, url: str) -> None:
        """Raises `StepFailed`. Nothing is asked for pages of the thread's own sandbox."""
        site = site_of(url)
        if not site:  # nothing is open, or a document that a page has made up (blob:)
            raise StepFailed(NO_SITE)
        if not self._is_own_sandbox(site) and site not in await self._db.read(permitted_sites, ctx.this_run.thread_id):
            raise StepFailed(MAY_NOT.format(site=site))


class _WithLoopback(frozenset[tuple[str, int]]):
    """The addresses that an operator allows, and all loopback ones: those of the thread's sandbox."""

    def __contains__(self, address: object) -> bool:
        return super().__contains__(address) or (isinstance(address, tuple) and is_loopback(address[0]))


def render_sight(sight: Sight, chars: int, offset: int = 0) -> ToolResult:
    """What a model reads of a page: at most `chars` of its text from `offset` on, notes, and the picture."""
    if offset and offset >= len(sight.text):
        return ToolResult(PAST_THE_END.format(chars=len(sight.text)), is_error=True)
    portion, notes = sight.text[offset : offset + chars], "\n".join(sight.notes)
    tags = PromptTags.around([portion, notes])
    told = [sight.problem] if sight.problem else []
    told.append(tags.put("document", portion, url=sight.url, title=sight.title or None, status=sight.status))
    left = len(sight.text) - offset - len(portion)
    if left and chars:
        told.append(MORE.format(left=left, offset=offset + len(portion)))
    if notes:
        told.append(tags.put("data", notes, about="the browser's notes"))
    name = sight.title or sight.url
    images = () if sight.picture is None else (Image(sight.picture, alt=name[:ALT_CHARS]),)
    is_public = bool(site_of(sight.url)) and not sight.problem
    sources = (Source(sight.url, sight.title),) if is_public else ()
    return ToolResult("\n".join(told), is_error=bool(sight.problem), images=images, sources=sources)


def _look(element: int | None) -> Step:
    async def step(page: WebPage) -> None:
        await page.scroll_to(element)

    return step
