"""The `page` agent: it looks things up, runs code against real APIs, and maintains a live page by lines of patches."""

from functools import partial

from outlast.apps.pages import store as pages
from outlast.apps.pages import versions
from outlast.apps.pages.agent.checks import check_page
from outlast.apps.pages.agent.context import Found, message_of
from outlast.apps.pages.agent.finisher import save_page
from outlast.apps.pages.agent.html_budget import CODE_CHARS_PER_TOKEN
from outlast.apps.pages.agent.line_handler import PageLines
from outlast.apps.pages.agent.prompt import system_prompt
from outlast.apps.pages.agent.publish_module import publish_module_tool
from outlast.apps.pages.agent.read_page import read_page_tool
from outlast.apps.pages.agent.start_stages import found_by, prepare
from outlast.apps.pages.settings import PageSettings
from outlast.apps.pages.versions import Rules
from outlast.base.errors import NotFound
from outlast.db.database import Tx
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context_window import user_pieces
from outlast.kernel.agents.network_prompt import network_words
from outlast.kernel.agents.prompt import Conversation, PromptContext
from outlast.kernel.agents.tools.ask_user import ask_user
from outlast.kernel.agents.tools.files import read_files_tool, write_files_tool
from outlast.kernel.agents.tools.project_files import file_tools, with_newest_files
from outlast.kernel.agents.tools.run_code import AROUND_CODE, run_code_tool
from outlast.kernel.apps.opened import Opening
from outlast.kernel.library.modules import USABLE_MODULES
from outlast.kernel.library.search import SEARCH, SEARCH_DOCS
from outlast.kernel.library.summary_line import asked_text
from outlast.kernel.models.protocol import ModelMessage, TextPiece
from outlast.kernel.runs.transcript import Run


def page_agent(opening: Opening) -> Agent:
    """The agent `page`."""
    settings, db, workspaces = opening.settings, opening.database, opening.workspaces
    sandbox, asked = settings.sandbox, settings.of(PageSettings)
    search, modules = opening.implementation(SEARCH_DOCS), opening.implementation(USABLE_MODULES)
    tools = [search] if search is not None else []
    if sandbox is not None:
        tools += [
            run_code_tool(workspaces, sandbox.output_bytes, opening.implementation(AROUND_CODE)),
            write_files_tool(workspaces),
            read_files_tool(workspaces),
            publish_module_tool(workspaces, db, modules, opening.blobs),
        ]
    network = None if sandbox is None else network_words(sandbox)
    return Agent(
        "page",
        instructions=partial(
            with_newest_files, system_prompt(network, sandbox.dependencies if sandbox is not None else ())
        ),
        tools=[*tools, *file_tools(opening), read_page_tool(db), ask_user],
        sandbox=True,
        context=_conversation,
        prepare=partial(
            prepare, db=db, modules=modules, searcher=opening.implementation(SEARCH), most_recalled=asked.recalled
        ),
        check=partial(check_page, db=db, workspaces=workspaces, sandbox=sandbox is not None),
        lines=PageLines(opening.states[Rules], asked.dormant_after_s),
        finish=partial(save_page, dependencies=modules.dependencies),
    )


def _conversation(context: PromptContext) -> Conversation:
    """One message, with the page as it was when the run began: the same for every turn of the run."""
    tx, parts = context.tx, context.own_parts()
    found = found_by(tx, context.run) or _found_now(tx, context.run)
    room = int(context.token_budget * CODE_CHARS_PER_TOKEN)
    text = message_of(found, _html(tx, found), asked_text(parts), room)
    images = user_pieces([part for part in parts if part["type"] in ("image", "file")], context.load_image)
    return Conversation([ModelMessage("user", (TextPiece(text), *images))])


def _found_now(tx: Tx, run: Run) -> Found:
    page = pages.page_of_thread(tx, run.thread_id)
    return Found("", 0) if page is None else Found(page.id, page.version)


def _html(tx: Tx, found: Found) -> str:
    """The page as it was when the run began; the current page if that version is no longer stored."""
    if not found.page_id or not found.version:
        return ""
    try:
        return versions.html_at(tx, found.page_id, found.version)
    except NotFound:
        return str(pages.page_of(tx, found.page_id).html)
