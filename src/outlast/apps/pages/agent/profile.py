"""The `page` profile: it looks things up, runs code against real APIs, and keeps a live page by lines of patches."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from outlast.apps.knowledge.modules import Modules
from outlast.apps.knowledge.recall import Recall
from outlast.apps.pages import store as pages
from outlast.apps.pages import versions
from outlast.apps.pages.agent.checks import Checker
from outlast.apps.pages.agent.context import Found, message_of
from outlast.apps.pages.agent.finisher import save_page, stats_of
from outlast.apps.pages.agent.line_handler import part_of, prepare_lines, take_lines
from outlast.apps.pages.agent.prompt import system_prompt
from outlast.apps.pages.agent.publish_module import PublishModule
from outlast.apps.pages.agent.read_page import ReadPage
from outlast.apps.pages.agent.recent_changes import asked_text
from outlast.apps.pages.agent.run_code import LibraryCode
from outlast.apps.pages.agent.start_stages import found_by, prepare
from outlast.apps.pages.agent.tokens import chars_of
from outlast.apps.pages.versions import Author, Rules
from outlast.base.errors import NotFound
from outlast.base.parts import Part
from outlast.base.settings import Settings
from outlast.db.blobs import FolderBlobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.history import image_loader, token_budget
from outlast.kernel.agents.network import network_words
from outlast.kernel.agents.tools.ask_user import AskUser
from outlast.kernel.agents.tools.files import ReadFiles, WriteFiles
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.models.protocol import ImagePiece, ModelMessage, ModelSpec, Piece, TextPiece
from outlast.kernel.runs import timers
from outlast.kernel.runs.model import Run
from outlast.kernel.runs.profile import Finished, LinesTaken, Prompt, StageContext, StageResult, Tool
from outlast.kernel.threads.tables import messages

GONE: Final = "The page was deleted, so this line changed nothing."


def nothing() -> None:
    """In the place of who makes vectors: there is nobody."""


class PageProfile:
    """See the module. `model_of` finds a model's description by id (for what it can see); `search` is the tool that
    looks things up, `code` the one that runs code (None: one of its own), `recall` finds what was done before, `embed`
    wakes who makes vectors of what is new."""

    name: Final = "page"
    done_mark: Final = ""

    def __init__(
        self,
        settings: Settings,
        db: Database,
        workspaces: Workspaces,
        blobs: FolderBlobs,
        model_of: Callable[[str], ModelSpec],
        rules: Rules,
        modules: Modules,
        *,
        search: Tool | None = None,
        code: Tool | None = None,
        recall: Recall | None = None,
        embed: Callable[[], None] = nothing,
    ) -> None:
        self._settings, self._db, self._blobs, self._model_of = settings, db, blobs, model_of
        self._rules, self._modules, self._recall, self._embed = rules, modules, recall, embed
        sandbox = settings.sandbox
        self._checker = Checker(db, workspaces, sandbox=sandbox is not None)
        network = None if sandbox is None else network_words(sandbox)
        self._system = system_prompt(network, sandbox.dependencies if sandbox is not None else ())
        tools: list[Tool] = [ReadPage(db), AskUser()]
        looking = [search] if search is not None else []  # needs no sandbox
        if sandbox is None:
            tools = [*looking, *tools]
        else:
            tools = [
                *looking,
                code or LibraryCode(workspaces, sandbox, db, modules, blobs),
                WriteFiles(workspaces),
                ReadFiles(workspaces),
                PublishModule(workspaces, db, modules, blobs),
                *tools,
            ]
        self._tools = {tool.name: tool for tool in tools}

    @property
    def tools(self) -> Mapping[str, Tool]:
        return self._tools

    def prompt(self, tx: Tx, run: Run) -> Prompt:
        """The rules, then one message, as the run found the page: the same for every turn of the run."""
        found = found_by(tx, run) or self._found_now(tx, run)
        own = tx.find(messages, {"id": run.message_id}, "parts")
        parts: Sequence[Mapping[str, Any]] = own["parts"] if own is not None else ()
        model = self._model_of(run.model)
        room = chars_of(token_budget(self._settings, model))
        text = message_of(found, self._html(tx, found), asked_text(parts), room)
        pieces: list[Piece] = [TextPiece(text), *self._images(tx, parts, sees=model.vision)]
        return Prompt(self._system, [ModelMessage("user", tuple(pieces))])

    # --- lines

    def prepare_lines(self, lines: Sequence[str]) -> None:
        prepare_lines(self._rules, lines)

    def take_lines(self, tx: Tx, run: Run, step: int, lines: Sequence[str]) -> LinesTaken:
        page = pages.page_of_thread(tx, run.thread_id)
        if page is None:
            return LinesTaken(problems=(GONE,))
        author = Author(run.id, step, run.started_by)
        return take_lines(tx, page["id"], self._rules, author, lines)

    def reset_step(self, tx: Tx, run: Run, step: int) -> Sequence[tuple[str, Any]]:
        page = pages.page_of_thread(tx, run.thread_id)
        return () if page is None else versions.reset_step(tx, page["id"], self._rules, run.id, step)

    def step_part(self, tx: Tx, run: Run, step: int, counts: Mapping[str, int]) -> Part | None:
        page = pages.page_of_thread(tx, run.thread_id)
        return None if page is None else part_of(tx, page["id"], run.id, step, counts)

    def run_ended(self, tx: Tx, run: Run, status: str) -> Sequence[tuple[str, Any]]:
        page = pages.page_of_thread(tx, run.thread_id)
        if page is None:
            return ()
        pages.touch(tx, run.thread_id)
        rests_at = tx.now + timedelta(seconds=self._settings.pages.dormant_after_s)
        timers.set_timer(tx, "page_dormant", page["id"], rests_at)
        return (("page.stats", stats_of(tx, run, dict(page))),)

    # --- stages

    async def prepare(self, context: StageContext) -> StageResult:
        return await prepare(context, self._db, self._modules, self._recall, self._settings.pages.recalled)

    async def check(self, context: StageContext) -> StageResult:
        return await self._checker.check(context)

    async def stop(self, context: StageContext) -> None:
        await self._checker.stop(context)

    async def forget(self, context: StageContext) -> None:
        """Nothing is kept beyond the stage."""

    def finish(
        self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> list[str] | Finished:
        return save_page(tx, run, parts, facts, dependencies=self._modules.dependencies, embed=self._embed)

    # --- what the prompt is made of

    def _found_now(self, tx: Tx, run: Run) -> Found:
        page = pages.page_of_thread(tx, run.thread_id)
        return Found("", 0) if page is None else Found(page["id"], page["version"])

    def _html(self, tx: Tx, found: Found) -> str:
        """The page as the run found it; as it is now, where that version is not kept any more."""
        if not found.page_id or not found.version:
            return ""
        try:
            return versions.html_at(tx, found.page_id, found.version)
        except NotFound:
            return str(pages.page_of(tx, found.page_id)["html"])

    def _images(self, tx: Tx, parts: Sequence[Mapping[str, Any]], *, sees: bool) -> list[Piece]:
        load = image_loader(tx, self._blobs, sees=sees)
        pieces: list[Piece] = []
        for part in parts:
            if part["type"] == "image":
                image = load(part["attachment_id"])
                name = part.get("name") or part["attachment_id"]
                note = TextPiece(f"[image {name}: not shown to this model]")
                pieces.append(ImagePiece(*image) if image is not None else note)
        return pieces
