"""The app templates that ship with Outlast, Next.js and Vite: their files, installation and dev servers.

Both have one layout, so their files are those of `templates/shared` with those of `templates/next` or `templates/vite`
over them: from the repository in a source tree, from the package's data in an installation.
"""

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.templates import DEV_PORT, DEV_SERVER, Template, Templates
from outlast_sandbox.warm_up import warm_up

PACKAGED: Final = Path(__file__).parents[2] / "_templates"
SOURCES: Final = Path(__file__).parents[4] / "templates"
SHARED: Final = "shared"
KIT: Final = "components/ui/"
LEFT_OUT: Final = frozenset({"node_modules", ".next", ".vite", "dist", "out"})
INSTALL: Final = "npm ci --no-audit --no-fund --loglevel=error"
# The installation does not depend on these, so a change to them builds no snapshot.
_BESIDE: Final = frozenset({"README.md", ".gitignore"})
_NEXT: Final = f"exec ./node_modules/.bin/next dev --hostname 127.0.0.1 --port {DEV_PORT}"
_VITE: Final = f"exec ./node_modules/.bin/vite --host 127.0.0.1 --port {DEV_PORT} --strictPort"
# No telemetry and no downloads: at each start Next looks for packages that npm's lock file does not list.
_NEXT_ENV: Final = MappingProxyType(
    {"NEXT_TELEMETRY_DISABLED": "1", "NEXT_IGNORE_INCORRECT_LOCKFILE": "1", "NEXT_PRIVATE_SKIP_VERSION_CHECK": "1"}
)


def load_templates(settings: ScreenSettings) -> Templates:
    """`next` and `vite` by name, with the sandbox limits of `[screens]`. Reads some fifty small files the first time.
    Raises `FileNotFoundError` if the package's data is incomplete."""
    return {
        "next": Template(
            name="next",
            files=(files := template_files("next")),
            installed=_installed(files),
            commands=(INSTALL, warm_up(_NEXT, warming_page("next", files), DEV_PORT)),
            layers=("node_modules", ".next"),
            # A connection is enough: a page that the agent has just broken is no reason to restart its dev server.
            service=Declared(DEV_SERVER, _NEXT, DEV_PORT),
            memory_mb=settings.memory_mb,
            cpus=settings.cpus,
            env=_NEXT_ENV,
        ),
        "vite": Template(
            name="vite",
            files=(files := template_files("vite")),
            installed=_installed(files),
            commands=(INSTALL, warm_up(_VITE, warming_page("vite", files), DEV_PORT)),
            layers=("node_modules", ".vite"),
            service=Declared(DEV_SERVER, _VITE, DEV_PORT),
            memory_mb=settings.memory_mb,
            cpus=settings.cpus,
        ),
    }


@functools.cache
def template_files(name: str) -> Mapping[str, bytes]:
    """A new project's files by relative path. Raises `FileNotFoundError` for an unknown template."""
    root = SOURCES if (SOURCES / SHARED).is_dir() else PACKAGED
    own = _read(root / name)
    return MappingProxyType({**_read(root / SHARED), **own})


def warming_page(name: str, files: Mapping[str, bytes]) -> Mapping[str, str]:
    """Additional files while the template's caches are warmed: a page that uses the whole kit, so that the first page
    of a real screen finds its parts compiled. Vite prepares packages, not files: none."""
    if name != "next":
        return {}
    parts = sorted(path.removesuffix(".tsx") for path in files if path.startswith(KIT))
    lines = [f'import * as part{number} from "@/{part}";' for number, part in enumerate(parts)]
    names = ", ".join(f"part{number}" for number in range(len(parts)))
    lines += [
        'import * as icons from "lucide-react";',
        f"const all = [{names}, {{ Check: icons.Check }}];",
        "export default function Warm() {",
        "  return <p>{all.flatMap((part) => Object.keys(part)).join(' ')}</p>;",
        "}",
    ]
    return {"app/outlast-warm/page.tsx": '"use client";\n' + "\n".join(lines) + "\n"}


def _installed(files: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(path for path in files if path not in _BESIDE))


def _read(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        raise FileNotFoundError(f"The app template in {folder} is missing: Outlast's files are incomplete.")
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if not LEFT_OUT & set(relative.parts) and path.is_file() and not path.is_symlink():
            found[relative.as_posix()] = path.read_bytes()
    return found
