"""A real PostgreSQL server for tests and benchmarks: on a free loopback port, deleted at the end."""

from __future__ import annotations

import collections
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

USER = "outlast"
UNPRIVILEGED = ("postgres", "daemon")
READY = "database system is ready to accept connections"
# Nothing here has to survive the power button; a test that kills the server (`crash`) still gets its commits back.
DURABLE = ("shared_buffers=64MB", "max_connections=200", "timezone=UTC")
FAST = ("fsync=off", "full_page_writes=off", *DURABLE)


class PostgresServer:
    """One server with its own data folder. It dies with the process that started it.

    `host`: the address to listen on; `trusted`: a network from which clients are let in as well, without a password."""

    def __init__(self, settings: Sequence[str] = FAST, *, host: str = "127.0.0.1", trusted: str = "") -> None:
        self._settings = settings
        self._host, self._trusted = host, trusted
        self._binaries = _binaries()
        # Not pytest's folder: the server runs as another user, who must reach it, and socket paths are short.
        self._folder = Path(tempfile.mkdtemp(prefix="outlast-pg-"))
        self._data = self._folder / "data"
        self._account = _account()
        if self._account is not None:
            os.chown(self._folder, self._account.pw_uid, self._account.pw_gid)
        self._process: subprocess.Popen[str] | None = None
        self._log: collections.deque[str] = collections.deque(maxlen=50)
        self.port = _free_port()
        self._initialise()

    def url(self, database: str) -> str:
        """The `postgresql://` URL of one database on this server."""
        return f"postgresql://{USER}@{self._host}:{self.port}/{database}"

    def start(self) -> None:
        """Starts the server and returns when it accepts connections. After `crash` or `stop`: same port, same data."""
        process = self._run("postgres", "-D", str(self._data), *self._options())
        self._process = process
        assert process.stderr is not None
        for line in process.stderr:
            self._log.append(line)
            if READY in line:
                threading.Thread(target=self._drain, args=(process.stderr,), daemon=True).start()
                return
        raise RuntimeError("PostgreSQL did not start:\n" + "".join(self._log))

    def stop(self) -> None:
        """Ends all connections and stops in order."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """Stops without any order; the next `start` goes through recovery."""
        self._end(signal.SIGQUIT)

    def remove(self) -> None:
        """Stops the server and deletes its data."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _initialise(self) -> None:
        process = self._run(
            "initdb", "-D", str(self._data), "-U", USER, "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"
        )
        _, errors = process.communicate()
        if process.returncode:
            raise RuntimeError(f"initdb failed:\n{errors}")
        if self._trusted:
            with (self._data / "pg_hba.conf").open("a") as file:
                file.write(f"host all all {self._trusted} trust\n")

    def _options(self) -> list[str]:
        settings = [f"port={self.port}", f"listen_addresses={self._host}", f"unix_socket_directories={self._folder}"]
        return [word for setting in (*settings, *self._settings) for word in ("-c", setting)]

    def _run(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        account = self._account
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "QUIT", str(self._binaries / program), *arguments],
            cwd=self._folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
        )

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _drain(self, stderr: IO[str]) -> None:
        self._log.extend(stderr)


def _binaries() -> Path:
    """Where initdb and postgres lie; Debian keeps them outside the PATH, one folder per version."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if installed:
        return installed[-1].parent
    on_path = shutil.which("postgres")
    if on_path:
        return Path(on_path).resolve().parent
    raise RuntimeError("The tests need PostgreSQL's server programs: make setup-dev installs them")


def _account() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root, so root's tests run it as another user."""
    if os.geteuid() != 0:
        return None
    for name in UNPRIVILEGED:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("PostgreSQL refuses to run as root, and this machine has no user to run it as")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
