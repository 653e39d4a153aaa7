"""App templates: the first files of a workspace, and the snapshot of its sandboxes."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Final

from outlast.base.records import dataclass
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.settings import SandboxSettings

DEV_SERVER: Final = "dev"
DEV_PORT: Final = 3000


@dataclass(frozen=True, slots=True)
class Template:
    """One template.

    `files`: the whole project by relative path, the files of a new workspace. `installed`: those of `files` that
    the installation depends on (package.json, lock file, what warming up needs); with `commands`, run once in the
    project folder while the snapshot is built, they make its name. `layers`: folders that come from the snapshot and
    are in the workspace under a layer of each sandbox's own (node_modules, a build cache); never in a checkpoint.
    `service`: its dev server. `memory_mb` and `cpus`: what one sandbox of it may use, at least. `env` is added to the
    environment of everything that runs in its sandboxes, and in the build of its snapshot; `OUTLAST_PREVIEW_HOSTS`
    is added to it there: the host names that its previews are seen under, such as `*.preview.localhost`.
    """

    name: str
    files: Mapping[str, bytes]
    installed: tuple[str, ...]
    commands: tuple[str, ...]
    layers: tuple[str, ...]
    service: Declared
    memory_mb: int
    cpus: float
    env: Mapping[str, str] = field(default_factory=dict)


Templates = Mapping[str, Template]

PREVIEW_HOSTS: Final = "OUTLAST_PREVIEW_HOSTS"
_MISSING: Final = (
    'const {existsSync: has, readFileSync: read} = require("fs"); let p = {};'
    ' try { p = JSON.parse(read("package.json")); } catch {}'
    " const wanted = Object.keys({...p.dependencies, ...p.devDependencies});"
    ' console.log(wanted.filter((name) => !has("node_modules/" + name + "/package.json")).join(" "))'
)
_REFUSED: Final = (
    "Not installed: $missing. The package index could not be reached from this sandbox. Allow its host in"
    " sandbox.allow_hosts, or remove what is missing from package.json."
)
_NO_NODE: Final = "This sandbox has no Node.js. Add it to the provider's image or template."
# Packages of the snapshot are there at once. Other packages of package.json, after a change or without snapshots, are
# fetched at each start, as far as the network allows; within the time that a service has to answer.
_INSTALL: Final = f"""missing=$(node -e '{_MISSING}') || {{ echo "{_NO_NODE}"; exit 1; }}
if [ -n "$missing" ]; then
  how=install; [ -d node_modules/.bin ] || how=ci
  echo "Installing: $missing"
  timeout 170 npm $how --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=500 || {{
    echo "{_REFUSED}"; [ -d node_modules/.bin ] || exit 1; }}
fi
"""


def dev_server(template: Template) -> Declared:
    """The service declared in each of its workspaces: its dev server, after missing packages were installed."""
    if "node_modules" not in template.layers:
        return template.service
    return replace(template.service, command=_INSTALL + template.service.command)


def preview_environment(settings: SandboxSettings) -> Mapping[str, str]:
    """The host names of previews, for dev servers that answer only to known ones."""
    domain = settings.preview_base_domain.strip().strip(".").lower()
    return {PREVIEW_HOSTS: f"*.{domain}"} if domain else {}
