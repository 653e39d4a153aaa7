"""One server of the cluster: `outlast serve` on a machine of its own, with a small disk and a clock that can be set."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio

from tests.cluster.machines import Machine
from tests.crash.server import LOOK_S, until

PORT: Final = 8400
START_S: Final = 90.0
FAKETIME: Final = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
BALLAST: Final = "ballast"


@dataclass
class Node:
    """Killed and started again it keeps its data folder. `settings`: the text of its configuration."""

    machine: Machine
    folder: Path
    settings: str
    starts: int = 0
    failed_starts: list[str] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return self.machine.label

    @property
    def url(self) -> str:
        return f"http://{self.machine.address}:{PORT}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log_file(self) -> Path:
        return self.folder / "server.log"

    @property
    def clock_file(self) -> Path:
        return self.folder / "clock"

    def launch(self) -> None:
        """Start the process; it is not ready yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        config = self.folder / "outlast.toml"
        config.write_text(self.settings)
        if not self.clock_file.exists():
            self.set_clock(0)
        words = [sys.executable, "-m", "outlast", "serve", "--config", str(config), "--data-dir", str(self.data)]
        words += ["--host", self.machine.address, "--port", str(PORT)]
        self.process = self.machine.popen(words, self.log_file, self._environment())
        self.starts += 1

    async def start(self) -> None:
        """Start it as a service manager does: again and again until it is ready."""
        with anyio.fail_after(START_S):
            while True:
                begin = len(self.log())
                self.launch()
                if await self._is_ready(begin):
                    return
                self.failed_starts.append(self.log()[begin:][-2000:])
                await anyio.sleep(0.5)

    async def _is_ready(self, begin: int) -> bool:
        assert self.process is not None
        while self.process.poll() is None:
            if "is ready" in self.log()[begin:]:
                return True
            await anyio.sleep(LOOK_S)
        return False

    def send(self, how: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)

    async def end(self, how: signal.Signals = signal.SIGKILL) -> int:
        """Send the signal and wait for the end; the exit code."""
        process = self.process
        assert process is not None
        self.send(how)
        await until(lambda: process.poll() is not None)
        return int(process.wait())

    def set_clock(self, ahead_s: float) -> None:
        """Its clock runs so far ahead of the machine's, within a second also in the process that runs. What measures
        durations (the monotonic clock) is left alone."""
        fresh = self.clock_file.with_suffix(".new")
        fresh.write_text(f"{ahead_s:+.3f}\n")
        fresh.replace(self.clock_file)

    def fill_disk(self) -> None:
        """Leave not one byte on the disk of its data."""
        with (self.data / BALLAST).open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass

    def free_disk(self) -> None:
        (self.data / BALLAST).unlink(missing_ok=True)

    def log(self) -> str:
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def _environment(self) -> dict[str, str]:
        faked = {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self.clock_file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # with it, threads of Python wait for the interpreter without end
            "FAKETIME_DISABLE_SHM": "1",
            "NO_FAKE_STAT": "1",
        }
        return {**os.environ, **(faked if FAKETIME else {})}
