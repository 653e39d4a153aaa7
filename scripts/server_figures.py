"""The start time and memory of an idle server: `make house` prints them next to the figures of the code base.

Time to start: from exec to the first 200 of `/readyz`, on a data directory that is migrated, with the default
configuration; the median of nine starts. Memory: what the process holds (RSS) thirty seconds after the last of them.
Both depend on the machine, so nothing fails here; measure on one that does nothing else.
"""

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

STARTS: Final = 9
SETTLED_S: Final = 30
GIVE_UP_S: Final = 60
START_GOAL_S: Final = 1.2
MEMORY_GOAL_MB: Final = 120
OUTLAST: Final = Path(sys.executable).with_name("outlast")


@contextmanager
def server(data: Path) -> Iterator[tuple[int, float]]:
    """A running server: its process id and how many seconds it took to be ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OUTLAST_", "PYTHON"))}
    begun = time.monotonic()
    process = subprocess.Popen(
        [OUTLAST, "serve", "--port", str(port), "--data-dir", data],
        env=environment,
        cwd=data,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not is_ready(port):
            if process.poll() is not None or time.monotonic() - begun > GIVE_UP_S:
                raise SystemExit("The server did not start: run `outlast serve` to see why.")
            time.sleep(0.005)
        yield process.pid, time.monotonic() - begun
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(GIVE_UP_S)


def is_ready(port: int) -> bool:
    """True if `/readyz` answers 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def resident_mb(pid: int) -> float:
    """Resident memory of a process in MB (10⁶ bytes)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    """Prints both figures."""
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory)
        with server(data):
            pass
        starts = []
        for _ in range(STARTS):
            with server(data) as (pid, seconds):
                starts.append(seconds)
                if len(starts) == STARTS:
                    time.sleep(SETTLED_S)
                    memory = resident_mb(pid)
    spread = f"{min(starts):.2f} to {max(starts):.2f}"
    median = statistics.median(starts)
    print(f"{median:>7.2f} s from exec to ready, median of {STARTS} ({spread}; goal {START_GOAL_S})")
    print(f"{memory:>7.0f} MB resident {SETTLED_S} s later (goal {MEMORY_GOAL_MB})")


if __name__ == "__main__":
    main()
