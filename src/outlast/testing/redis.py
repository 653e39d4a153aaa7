"""A real Redis server for tests and benchmarks: on a free loopback port, gone at the end."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from outlast.testing.postgres import _free_port

PROGRAM = "redis-server"


def is_installed() -> bool:
    """True if this machine has Redis's server program."""
    return shutil.which(PROGRAM) is not None


class RedisServer:
    """One server that keeps nothing on disk. It dies with the process that started it."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self._folder = Path(tempfile.mkdtemp(prefix="outlast-redis-"))
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Starts the server, empty, and returns when it answers. After `kill`: same port."""
        self._process = subprocess.Popen(
            [
                "setpriv", "--pdeathsig", "KILL", PROGRAM, "--port", str(self.port), "--bind", "127.0.0.1",
                "--save", "", "--appendonly", "no", "--dir", str(self._folder), *self._options,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if b"Ready to accept connections" in line:
                return
        raise RuntimeError("Redis did not start")

    def kill(self) -> None:
        """Ends it at once; its memory is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stand_still(self) -> None:
        """Stops it without ending its connections (SIGSTOP)."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
