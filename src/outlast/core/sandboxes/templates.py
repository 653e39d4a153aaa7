"""App templates: what a workspace's files begin as, and what its sandboxes start from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from outlast.core.sandboxes.services.rules import Declared

DEV_SERVER: Final = "dev"
DEV_PORT: Final = 3000


@dataclass(frozen=True, slots=True)
class Template:
    """One template.

    `files`: the whole project by relative path, what a new workspace of it holds. `installed`: those of `files` that
    the installation depends on (package.json, lock file, what warming up needs); with `commands`, run once in the
    project folder while the snapshot is built, they make its name. `layers`: folders that come from the snapshot and
    lie in the workspace under a layer of each sandbox's own (node_modules, a build cache); never in a checkpoint.
    `service`: its dev server. `memory_mb` and `cpus`: what one sandbox of it may use, at least.
    """

    name: str
    files: Mapping[str, bytes]
    installed: tuple[str, ...]
    commands: tuple[str, ...]
    layers: tuple[str, ...]
    service: Declared
    memory_mb: int
    cpus: float


Templates = Mapping[str, Template]
