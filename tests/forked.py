"""Processes that are forked from one that has the program loaded: a start costs a fifth of the processor time.

What runs is the same `main` in a process of its own, killed and measured like any other. The tests in
`tests/flow/program/test_cli.py` start it the way people do.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Self

OUTLAST = "outlast.__main__"
TO_END = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_PR_SET_PDEATHSIG = 1
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.loaded"])


class Forked:
    """`python -m module words…`, whose output goes to the end of the file `log`, its errors too where `errors` names no
    other: as much of `subprocess.Popen` as tests use. It ends with the tests, also when those are killed."""

    def __init__(
        self,
        words: Sequence[str],
        log: Path,
        *,
        errors: Path | None = None,
        module: str = OUTLAST,
        env: Mapping[str, str] | None = None,
    ) -> None:
        environment = dict(os.environ if env is None else env)
        self.args = [module, *words]
        self._process = _FORKS.Process(
            target=_run, args=(module, list(words), environment, str(log), str(errors or log)), daemon=True
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code. Raises `subprocess.TimeoutExpired`."""
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def send_signal(self, how: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, how)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()


def run_outlast(*words: str, timeout: float = 120) -> str:
    """What the command `outlast` prints. Raises `AssertionError`, with its errors, when it fails."""
    with tempfile.NamedTemporaryFile() as log, tempfile.NamedTemporaryFile() as errors:
        code = Forked(words, Path(log.name), errors=Path(errors.name)).wait(timeout)
        assert code == 0, errors.read().decode()
        return log.read().decode()


def _run(module: str, words: list[str], environment: dict[str, str], log: str, errors: str) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for target, name, flags in ((0, os.devnull, os.O_RDONLY), (1, log, TO_END), (2, errors, TO_END)):
        opened = os.open(name, flags, 0o644)
        os.dup2(opened, target)
        os.close(opened)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = [module, *words]
    import_module(module).main()
