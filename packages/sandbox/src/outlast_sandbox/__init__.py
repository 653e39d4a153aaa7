"""Isolated machines for code that an agent wrote: start one, run commands, freeze it, control its network traffic.

    setup = ProviderSetup(state_dir=Path("state"), cache_dir=Path("cache"), owner="me")
    provider = open_provider("local", setup)
    sandbox = await provider.create(SandboxSpec("sbx_1", Path("workspace")))
    result = await sandbox.run(Command("first", 1, "echo hello"))

Terms: a *provider* creates sandboxes (local, docker, e2b, deno, memory, others by entry point); a *sandbox* runs
commands over the files of a *workspace* and may die while the files stay; a *command* or *evaluation* is one effect
inside, identified by effect id and attempt. Its result is kept inside until the caller acknowledges it, so that the
next attempt re-attaches to it.

`interface.py` and `interactive.py` define the interface of all providers, `errors.py` the errors they raise.
`providers/` holds the providers, `egress/` the proxy that is a sandbox's only network access, `ports/` HTTP to servers
inside, `browser/` screenshots of their pages, `checkpoints/` the state of a workspace at one moment. `recipes.py` and
`warm_up.py` prepare snapshots, `health.py` checks servers inside, `disk_watch.py` watches disk usage,
`module_imports.py` tests if a file can be imported. Nothing here uses a database.
"""

from outlast_sandbox.errors import SandboxError, SandboxLost, SandboxUnavailable
from outlast_sandbox.interface import (
    Capabilities,
    Command,
    CommandResult,
    Evaluation,
    EvaluationResult,
    FileEntry,
    Limits,
    Sandbox,
    SandboxProvider,
    SandboxSpec,
)
from outlast_sandbox.providers.registry import known_providers, open_provider
from outlast_sandbox.providers.setup import ProviderSetup

__all__ = [
    "Capabilities",
    "Command",
    "CommandResult",
    "Evaluation",
    "EvaluationResult",
    "FileEntry",
    "Limits",
    "ProviderSetup",
    "Sandbox",
    "SandboxError",
    "SandboxLost",
    "SandboxProvider",
    "SandboxSpec",
    "SandboxUnavailable",
    "known_providers",
    "open_provider",
]
