"""A real Podman of the tests' own: its folders, its socket, and an image made from this machine's Debian packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IMAGE = "localhost/outlast-test:latest"
PACKAGES = ("base-files", "bash", "coreutils", "dash", "findutils", "grep", "procps", "python3", "sed")
LEFT_OUT = ("/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/usr/share/info", "/var")
LINKED_TO_USR = ("/bin", "/sbin", "/lib", "/lib64")
DEADLINE_S = 60


class Podman:
    """Its command line and the socket of its service."""

    def __init__(self, folder: Path, driver: str) -> None:
        self.socket = folder / "podman.sock"
        self._folder = folder  # worked in, because a container out of memory leaves a file where Podman was started
        runtime = shutil.which("runc") or shutil.which("crun") or "crun"  # crun refuses hybrid control groups
        self._words = ["podman", "--root", str(folder / "root"), "--runroot", str(folder / "runroot")]
        self._words += ["--tmpdir", str(folder / "tmp"), "--storage-driver", driver, "--runtime", runtime]
        self._words += ["--cgroup-manager", "cgroupfs", "--events-backend", "file"]

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._words, *words], cwd=self._folder, capture_output=True, text=True, check=False)

    def start_service(self, log: Path) -> subprocess.Popen[bytes]:
        words = [*self._words, "system", "service", "--time", "0", f"unix://{self.socket}"]
        with log.open("wb") as file:
            return subprocess.Popen(words, cwd=self._folder, stdout=file, stderr=file, stdin=subprocess.DEVNULL)


@contextmanager
def running_podman(folder: Path) -> Iterator[Podman]:
    """Serve, with `IMAGE` loaded; afterwards its containers are removed and its service has ended."""
    podman = _usable(folder)
    loaded = podman("import", str(debian_root(folder / "root.tar")), IMAGE)
    assert loaded.returncode == 0, loaded.stderr
    service = podman.start_service(folder / "log")
    try:
        deadline = time.monotonic() + DEADLINE_S
        while not podman.socket.exists():
            assert service.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, "Podman's service did not start"
            time.sleep(0.02)
        yield podman
    finally:
        service.terminate()
        service.wait(DEADLINE_S)
        podman("rm", "--all", "--force")
        podman("rmi", "--all", "--force")


def _usable(folder: Path) -> Podman:
    """With overlay mounts where this file system bears them, else with plain copies."""
    told = []
    for driver in ("overlay", "vfs"):
        (folder / driver).mkdir()
        podman = Podman(folder / driver, driver)
        tried = podman("info")
        if tried.returncode == 0:
            return podman
        told.append(tried.stderr)
    raise AssertionError("Podman does not work here: " + "".join(told))


def debian_root(target: Path) -> Path:
    """A tar of a small Debian: the files of `PACKAGES` and all they depend on, as they lie on this machine."""
    listed = subprocess.run(["dpkg", "-L", *_closure()], capture_output=True, text=True, check=True).stdout
    links = [link for link in LINKED_TO_USR if os.path.islink(link)]
    paths = {_real(path, links) for path in listed.splitlines() if path.startswith("/") and len(path) > 2}
    with tarfile.open(target, "w") as tar:
        for path in sorted({*links, *paths}):
            if not path.startswith(LEFT_OUT) and os.path.lexists(path):
                tar.add(path, recursive=False)
    return target


def _real(path: str, links: list[str]) -> str:
    """Packages may name a file below /bin that lies below /usr/bin."""
    return f"/usr{path}" if any(path.startswith(f"{link}/") for link in links) else path


def _closure() -> list[str]:
    shape = "${Package}\t${Pre-Depends}, ${Depends}\n"
    known = subprocess.run(["dpkg-query", "-W", "-f", shape], capture_output=True, text=True, check=True).stdout
    needs: dict[str, list[str]] = {}
    for line in known.splitlines():
        name, _, words = line.partition("\t")
        needs[name] = [re.split(r"[ :(|]", word.strip())[0] for word in words.split(",") if word.strip()]
    found: set[str] = set()
    waiting = list(PACKAGES)
    while waiting:
        name = waiting.pop()
        if name in needs and name not in found:
            found.add(name)
            waiting += needs[name]
    return sorted(found)
