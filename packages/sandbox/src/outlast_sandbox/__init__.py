"""Isolated machines for code that an agent wrote: start one, run commands, freeze it, watch what leaves it.

    setup = ProviderSetup(state_dir=Path("state"), cache_dir=Path("cache"), owner="me")
    provider = open_provider("local", setup)
    sandbox = await provider.create(SandboxSpec("sbx_1", Path("workspace")))
    result = await sandbox.run(Command("first", 1, "echo hello"))

Words: a *provider* makes sandboxes (local, docker, e2b, deno, memory, others by entry point); a *sandbox* runs
commands over the files of a *workspace* and may die while the files stay; a *command* or *evaluation* is one effect
inside, known by effect id and attempt, whose result is kept inside until the caller acknowledges it, so that the next
attempt re-attaches to it.

`interface.py` and `interactive.py` hold what every provider offers, `errors.py` what they raise, `providers/` the
providers, `egress/` the proxy that is a sandbox's only way out, `ports/` HTTP to what listens in one, `browser/`
pictures of what it serves, `checkpoints/` what a workspace held at one moment; `recipes.py` and `warm_up.py` are about
snapshots, `health.py` about servers inside, `disk_watch.py` about what files take, `module_imports.py` about whether a
file can be imported. Nothing here knows a database.
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
