"""What a function finds in its context beside its steps, for one effect of a run."""

from collections.abc import Awaitable, Callable

from outlast.base.records import dataclass
from outlast.kernel.agents.context import EffectContext
from outlast.kernel.runs.context import RunContext
from outlast.kernel.runs.function_files import FunctionFiles
from outlast.kernel.runs.function_sandbox import FunctionSandbox
from outlast.kernel.runs.function_secrets import FunctionSecrets
from outlast.kernel.runs.function_state import FunctionState
from outlast.kernel.runs.journal import RunJournal


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


def open_resources(context: RunContext, journal: RunJournal, effect: EffectContext, step: int) -> FunctionResources:
    """The resources of the function whose journal this is, in this step of the run."""
    connected, run, agent = context.engine.connected, context.run, context.agent
    secrets = FunctionSecrets(context.engine.settings.sandbox, connected.variables(agent))
    sandbox = FunctionSandbox(context, journal, effect, secrets)
    files = FunctionFiles(context, journal, sandbox, step)

    async def connect(name: str) -> str:
        return await connected.connect(journal, run, agent, name)

    return FunctionResources(FunctionState(context, journal), sandbox, files, secrets, connect)
