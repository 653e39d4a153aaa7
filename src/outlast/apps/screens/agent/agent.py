"""The `screen` agent: an expert UI developer who builds one app on the canvas, checked before it may end."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from outlast.apps.screens.agent.checks import Checker
from outlast.apps.screens.agent.conversation import told
from outlast.apps.screens.agent.finisher import save_screen
from outlast.apps.screens.agent.project_files import FileLists, listed
from outlast.apps.screens.agent.prompt import system_prompt
from outlast.apps.screens.agent.start_stages import prepare
from outlast.apps.screens.store import screen_of_thread
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.network_prompt import NONE, network_words
from outlast.kernel.agents.prompt import Conversation, PromptContext, context_messages
from outlast.kernel.agents.tool import Tool
from outlast.kernel.agents.tools.ask_user import ask_user
from outlast.kernel.agents.tools.files import read_files_tool, write_files_tool
from outlast.kernel.agents.tools.project_files import file_tools, with_newest_files
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.apps.opened import Opening
from outlast.kernel.models.protocol import ModelMessage
from outlast.kernel.runs.history import Exchange
from outlast.kernel.threads.tables import threads

NAME: Final = "screen"
DONE_MARK: Final = "<task_summary>"
CONTEXT: Final = """\
[The screen as this run found it]
Title: {title}
Theme: {theme}
Files of the project:
{files}"""


def screen_agent(opening: Opening) -> Agent:
    """The agent `screen`."""
    settings, db, blobs, workspaces = opening.settings, opening.database, opening.blobs, opening.workspaces
    sandbox, lists, room = settings.sandbox, FileLists(blobs), opening.sandboxes
    network = NONE if sandbox is None else network_words(sandbox)
    systems = {name: system_prompt(template, network) for name, template in opening.templates.items()}
    timeout_s = settings.screens.check_timeout_s
    checker = Checker(db, workspaces, blobs, lists, timeout_s, room.checkpoints, room.keeper, room.studio)
    tools: list[Tool] = [*file_tools(opening), ask_user]
    if sandbox is not None:
        tools = [terminal_tool(workspaces, sandbox), write_files_tool(workspaces), read_files_tool(workspaces), *tools]
    return Agent(
        NAME,
        instructions=partial(_instructions, systems),
        tools=tools,
        sandbox=True,
        context=partial(_conversation, lists),
        prepare=partial(prepare, db=db, workspaces=workspaces, context_messages=context_messages(settings, NAME)),
        check=checker.check,
        done_mark=DONE_MARK,
        finish=save_screen,
    )


def _instructions(systems: Mapping[str, str], context: PromptContext) -> str:
    """The rules for the template that the screen was made with, and the newest files of the project."""
    screen = screen_of_thread(context.tx, context.run.thread_id)
    template = screen.template if screen is not None else context.settings.screens.template
    return with_newest_files(systems[template], context)


def _conversation(lists: FileLists, context: PromptContext) -> Conversation:
    """Earlier messages, then the screen and the request of this run: the same for every turn of the run."""
    found = _found(lists, context)

    def render(exchanges: Sequence[Exchange]) -> list[ModelMessage]:
        return told(exchanges, found, context.token_budget, context.load_image)

    return context.with_history(render)


def _found(lists: FileLists, context: PromptContext) -> str:
    """The screen at the start of the run, and the subject of the thread."""
    tx, run = context.tx, context.run
    screen = screen_of_thread(tx, run.thread_id)
    workspace_id = screen.workspace_id if screen is not None else run.workspace_id
    paths = lists.before_run(tx, workspace_id, run.id, context.blobs) if workspace_id is not None else None
    found = CONTEXT.format(
        title=screen.title if screen is not None else "-",
        theme=screen.theme if screen is not None else "-",
        files="(not known)" if paths is None else listed(paths),
    )
    anchor = tx.value(threads.c.anchor, {"id": run.thread_id})
    text = str((anchor or {}).get("text", "")).strip()
    return f"{found}\n\n<anchor>\n{text}\n</anchor>" if text else found
