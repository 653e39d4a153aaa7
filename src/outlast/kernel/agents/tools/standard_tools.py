"""The tools that come with a sandbox, with files and for the web: of our own agents, and of those that operators
write."""

import logging
from dataclasses import replace
from typing import Final

from outlast.base.errors import StartRefused
from outlast.kernel.agents.additions import Addition
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.prompt import PromptContext
from outlast.kernel.agents.tool import Tool
from outlast.kernel.agents.tools.browser import browser
from outlast.kernel.agents.tools.files import read_files_tool, write_files_tool
from outlast.kernel.agents.tools.project_files import file_tools, with_newest_files
from outlast.kernel.agents.tools.run_code import AROUND_CODE, run_code_tool
from outlast.kernel.agents.tools.show_file import show_file_tool
from outlast.kernel.agents.tools.start_service import start_service_tool
from outlast.kernel.agents.tools.terminal import terminal_tool
from outlast.kernel.agents.tools.web import WEB_TOOLS, web_fetch, web_search
from outlast.kernel.apps.opened import Opening

_OF_THE_WEB: Final = (web_search, web_fetch, *browser)
log: Final = logging.getLogger("outlast.agents")


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
    """Gives an operator's agents what ours have: the tools of the sandbox with `sandbox=True`, those for the web that
    they name, and, unless `extends=False`, the project's files. A tool of the agent replaces one of the same name."""

    def __init__(self, opening: Opening) -> None:
        self._sandbox, self._files = sandbox_tools(opening), file_tools(opening)
        self._web = {tool.name: tool for tool in opening.implementation(WEB_TOOLS)}

    def give(self, agent: Agent) -> Agent:
        """The agent with these tools."""
        if agent.flow is not None:
            return agent
        agent = self._with_web(agent)
        taken = {tool.name for tool in agent.tools}
        if agent.sandbox:
            more = [tool for tool in self._sandbox if tool.name not in taken]
            agent = replace(agent, tools=[*agent.tools, *more])
        files = [tool for tool in self._files if tool.name not in taken]
        return agent.with_additions([Addition(tools=files, text=_newest_files)])

    def _with_web(self, agent: Agent) -> Agent:
        """The agent with this server's tools in place of the public words; those not offered are left out."""
        tools = [self._web.get(tool.name) if tool in _OF_THE_WEB else tool for tool in agent.tools]
        kept = [tool for tool in tools if tool is not None]
        if len(kept) < len(tools):
            missing = sorted({tool.name for tool in agent.tools} - {tool.name for tool in kept})
            if agent.tool_choice in missing:
                raise StartRefused(
                    f"The agent {agent.name} must call {agent.tool_choice}, which this server does not offer.",
                    hint="Configure it in the table [web], or change the agent's tool_choice.",
                )
            extra = {"agent": agent.name, "tools": missing}
            log.warning("tools that this server does not offer were left out: see [web]", extra=extra)
        return replace(agent, tools=kept) if kept != list(agent.tools) else agent


def _newest_files(context: PromptContext) -> str:
    return with_newest_files("", context).lstrip()
