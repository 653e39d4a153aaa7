"""The tools that come with a sandbox and with files: of our own agents, and of those that operators write."""

from dataclasses import replace

from outlast.kernel.agents.additions import Addition
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.prompt import PromptContext
from outlast.kernel.agents.tool import Tool
from outlast.kernel.agents.tools.files import read_files_tool, write_files_tool
from outlast.kernel.agents.tools.project_files import file_tools, with_newest_files
from outlast.kernel.agents.tools.run_code import AROUND_CODE, run_code_tool
from outlast.kernel.agents.tools.show_file import show_file_tool
from outlast.kernel.agents.tools.start_service import start_service_tool
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.apps.opened import Opening


def sandbox_tools(opening: Opening) -> list[Tool]:
    """Commands, files, code and services in the sandbox of a thread; none on a server without sandboxes."""
    sandbox, workspaces, keeper = opening.settings.sandbox, opening.workspaces, opening.sandboxes.keeper
    if sandbox is None:
        return []
    return [
        terminal_tool(workspaces, sandbox),
        write_files_tool(workspaces),
        read_files_tool(workspaces),
        run_code_tool(workspaces, sandbox.output_bytes, opening.implementation(AROUND_CODE)),
        show_file_tool(workspaces, opening.database, opening.blobs, opening.settings.limits),
        *([start_service_tool(workspaces, keeper)] if keeper is not None else []),
    ]


class OwnTools:
    """Gives an operator's agents what ours have: the tools of the sandbox with `sandbox=True`, and, unless
    `extends=False`, the project's files. A tool of the agent replaces one of the same name."""

    def __init__(self, opening: Opening) -> None:
        self._sandbox, self._files = sandbox_tools(opening), file_tools(opening)

    def give(self, agent: Agent) -> Agent:
        """The agent with these tools."""
        if agent.flow is not None:
            return agent
        taken = {tool.name for tool in agent.tools}
        if agent.sandbox:
            more = [tool for tool in self._sandbox if tool.name not in taken]
            agent = replace(agent, tools=[*agent.tools, *more])
        files = [tool for tool in self._files if tool.name not in taken]
        return agent.with_additions([Addition(tools=files, text=_newest_files)])


def _newest_files(context: PromptContext) -> str:
    return with_newest_files("", context).lstrip()
