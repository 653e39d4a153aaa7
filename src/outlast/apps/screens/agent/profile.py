"""The `screen` profile: an expert UI developer who builds one app on the canvas, checked before it may end."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from outlast.apps.screens.agent.checks import Checker
from outlast.apps.screens.agent.conversation import told
from outlast.apps.screens.agent.finisher import save_screen
from outlast.apps.screens.agent.project_files import FileLists, listed
from outlast.apps.screens.agent.prompt import system_prompt
from outlast.apps.screens.agent.start_stages import prepare
from outlast.apps.screens.store import screen_of_thread
from outlast.base.settings import Settings
from outlast.db.blobs import FolderBlobs
from outlast.db.database import Database, Tx
from outlast.kernel.agents.history import image_loader, messages_told, token_budget, with_history
from outlast.kernel.agents.network import NONE, network_words
from outlast.kernel.agents.tools.ask_user import AskUser
from outlast.kernel.agents.tools.files import ReadFiles, WriteFiles
from outlast.kernel.agents.tools.start_service import Keeper
from outlast.kernel.agents.tools.terminal import Terminal
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.models.protocol import ModelMessage, ModelSpec
from outlast.kernel.runs.engine import FileKeeping
from outlast.kernel.runs.history import Exchange
from outlast.kernel.runs.model import Run
from outlast.kernel.runs.profile import Prompt, StageContext, StageResult, Tool
from outlast.kernel.sandboxes.templates import Templates
from outlast.kernel.threads.tables import threads
from outlast_sandbox.browser.interface import Photographer

CONTEXT: Final = """\
[The screen as this run found it]
Title: {title}
Theme: {theme}
Files of the project:
{files}"""


class ScreenProfile:
    """See the module. `model_of` finds a model's description by id (for what it can see); `files` keeps the workspaces'
    files, `keeper` their services, `photographer` looks at pages (each None: this server has none)."""

    name: Final = "screen"
    done_mark: Final = "<task_summary>"

    def __init__(
        self,
        settings: Settings,
        db: Database,
        workspaces: Workspaces,
        blobs: FolderBlobs,
        model_of: Callable[[str], ModelSpec],
        templates: Templates,
        *,
        files: FileKeeping | None = None,
        keeper: Keeper | None = None,
        photographer: Photographer | None = None,
    ) -> None:
        self._settings, self._db, self._workspaces = settings, db, workspaces
        self._blobs, self._model_of = blobs, model_of
        self._lists = FileLists(blobs)
        sandbox = settings.sandbox
        network = NONE if sandbox is None else network_words(sandbox)
        self._systems = {name: system_prompt(template, network) for name, template in templates.items()}
        self._checker = Checker(
            db, workspaces, blobs, self._lists, settings.screens.check_timeout_s, files, keeper, photographer
        )
        tools: list[Tool] = [AskUser()]
        if sandbox is not None:
            tools = [
                Terminal(workspaces, sandbox.command_timeout_s, sandbox.output_bytes, sandbox),
                WriteFiles(workspaces),
                ReadFiles(workspaces),
                *tools,
            ]
        self._tools = {tool.name: tool for tool in tools}

    @property
    def tools(self) -> Mapping[str, Tool]:
        return self._tools

    def prompt(self, tx: Tx, run: Run) -> Prompt:
        """From the most to the least stable: the rules, earlier messages, then what this run found and was asked. All
        of it is the same for every turn of the run."""
        row = screen_of_thread(tx, run.thread_id)
        screen = dict(row) if row is not None else None
        context = self._context(tx, run, screen)
        model = self._model_of(run.model)
        budget = token_budget(self._settings, model)
        load_image = image_loader(tx, self._blobs, sees=model.vision)

        def render(exchanges: Sequence[Exchange]) -> list[ModelMessage]:
            return told(exchanges, context, budget, load_image)

        messages, notices = with_history(tx, run, self._context_messages, render)
        template = screen["template"] if screen is not None else self._settings.screens.template
        return Prompt(self._systems[template], messages, notices)

    async def prepare(self, context: StageContext) -> StageResult:
        return await prepare(context, self._db, self._workspaces, self._context_messages)

    async def check(self, context: StageContext) -> StageResult:
        return await self._checker.check(context)

    async def stop(self, context: StageContext) -> None:
        await self._checker.stop(context)

    async def forget(self, context: StageContext) -> None:
        await self._checker.forget(context)

    def finish(
        self, tx: Tx, run: Run, parts: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
    ) -> list[str]:
        save_screen(tx, run, parts, facts)
        return []

    @property
    def _context_messages(self) -> int:
        return messages_told(self._settings, self.name)

    def _context(self, tx: Tx, run: Run, screen: Mapping[str, Any] | None) -> str:
        workspace_id = screen["workspace_id"] if screen is not None else run.workspace_id
        paths = self._lists.before_run(tx, workspace_id, run.id) if workspace_id is not None else None
        context = CONTEXT.format(
            title=screen["title"] if screen is not None else "-",
            theme=screen["theme"] if screen is not None else "-",
            files="(not known)" if paths is None else listed(paths),
        )
        thread = tx.find(threads, {"id": run.thread_id}, "anchor")
        text = str((thread["anchor"] or {}).get("text", "")).strip() if thread is not None else ""
        return f"{context}\n\n<anchor>\n{text}\n</anchor>" if text else context
