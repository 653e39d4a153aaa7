"""The word that makes an agent of a program which speaks the Agent Client Protocol."""

import shlex
from collections.abc import Mapping
from functools import partial
from typing import Any

from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.context import Context
from outlast.kernel.agents.guests.acp.program import AcpProgram
from outlast.kernel.runs.guest_journal import Guest, GuestJournal


def acp_agent(
    name: str, command: str, *, env: Mapping[str, str] | None = None, auth_method: str = "", **options: Any
) -> Agent:
    """Make an agent of a program that speaks the Agent Client Protocol (ACP), unmodified:

        coder = acp_agent("coder", "opencode acp", title="OpenCode")

    The program runs in the sandbox of the thread, with its own tools and its own model. What it says and does is shown
    and recorded as that of other agents; the permissions that it asks for are approvals.

    `command`: its words, as in a shell but without its signs; `[[sandbox.dependencies]]` installs the program, and
    names the hosts and secrets that it uses. `env`: environment variables beside those of the sandbox. `HOME` is
    `/workspace/.acp`, so that the agent's sessions are kept with the files. `auth_method`: the id of a way to sign in,
    for agents that want one. `options` are those of `Agent` that apply: `title`, `description`, `icon`, `listed`,
    `schedule`, `zone`. Raises `ValueError` for a command without words, and as `Agent` does.
    """
    argv = shlex.split(command)
    if not argv:
        raise ValueError(f"The agent {name} has no command.")
    program = AcpProgram(argv, dict(env or {}), auth_method)
    return Agent(name, sandbox=True, flow=Guest(partial(_play, program)), **options)


async def _play(program: AcpProgram, ctx: Context, journal: GuestJournal) -> Any:
    from outlast.kernel.agents.guests.acp.leg import AcpLeg

    return await AcpLeg(program, ctx, journal).play()
