"""What agents with a sandbox read about saved secrets: names and hosts, never values."""

from collections.abc import Callable
from typing import Final

from outlast.db.database import Tx
from outlast.kernel.agents.additions import Addition
from outlast.kernel.agents.prompt import PromptContext
from outlast.kernel.secrets.store import hosts_of

TOLD: Final = (
    "Code in the sandbox may reach the hosts below. The environment variable holds a placeholder for the secret: put "
    "it into a header, and the server replaces it in requests to these hosts. You never see the value."
)


def secrets_addition(runs_code: Callable[[str], bool]) -> Addition:
    """The addition for every listed agent. `runs_code`: True for the name of an agent that runs code in a sandbox."""

    def text(context: PromptContext) -> str | None:
        return (
            secrets_text(context.tx, context.run.project_id, context.run.started_by)
            if runs_code(context.run.profile)
            else None
        )

    return Addition(text=text)


def secrets_text(tx: Tx, project_id: str, user_id: str) -> str | None:
    """A line for each secret of the project's sandboxes in which this user works, or None."""
    found = hosts_of(tx, project_id, user_id)
    lines = [f"- {one.name}: {', '.join(one.hosts)}" for one in found]
    return "\n".join((TOLD, *lines)) if lines else None
