"""What a function finds in its context beside its steps, for one effect of a run."""

from collections.abc import Awaitable, Callable, Sequence

from outlast.base.records import dataclass
from outlast.kernel.agents.context import EffectContext
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.function_files import FunctionFiles
from outlast.kernel.runs.function_sandbox import FunctionSandbox
from outlast.kernel.runs.function_secrets import FunctionSecrets
from outlast.kernel.runs.function_state import FunctionState
from outlast.kernel.runs.journal import RunJournal
from outlast.kernel.secrets.store import hosts_of


@dataclass(frozen=True, slots=True)
class FunctionResources:
    """Implements `Resources`."""

    state: FunctionState
    sandbox: FunctionSandbox
    files: FunctionFiles
    secrets: FunctionSecrets
    open_connection: Callable[[str], Awaitable[str]]

    async def connect(self, name: str) -> str:
        return self.secrets[await self.open_connection(name)]


async def saved_names(context: RunContext) -> list[str]:
    """The names of the saved secrets that the sandbox of this run has."""
    found = await context.engine.db.read(hosts_of, context.run.project_id, context.run.started_by)
    return [one.name for one in found]


def open_resources(
    context: RunContext, journal: RunJournal, effect: EffectContext, step: int, saved: Sequence[str]
) -> FunctionResources:
    """The resources of the function whose journal this is, in this step of the run. `saved`: names of saved secrets."""
    connected, run, agent = context.engine.connected, context.run, context.agent
    secrets = FunctionSecrets(context.engine.settings.sandbox, [*connected.variables(agent), *saved])
    sandbox = FunctionSandbox(context, journal, effect, secrets)
    files = FunctionFiles(context, journal, sandbox, step)

    async def connect(name: str) -> str:
        return await connected.connect(journal, run, agent, name)

    return FunctionResources(FunctionState(context, journal), sandbox, files, secrets, connect)
