"""The start times of other isolation tools: a bare process, bubblewrap, runc, podman, each running a no-op.

None of them has an agent inside, a workspace with its own user, a seccomp filter or recovery after a restart: they are
a lower bound for a sandbox, not competitors.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.client import now_ms, percentile
from bench.figures import Figure

SYSTEM = ("/usr", "/bin", "/lib", "/lib64")
NOTHING = "/bin/true"


def measure_peers(rounds: int) -> list[Figure]:
    """The medians of the tools that are installed and work here; the others are skipped."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, _bundle(Path(folder)) as bundle:
        peers: dict[str, Callable[[int], list[str]]] = {
            "bare process": lambda _number: [NOTHING],
            "bubblewrap, all namespaces": lambda _number: _bubblewrap(),
            "runc run": lambda number: ["runc", "run", "--bundle", str(bundle), f"bench-{os.getpid()}-{number}"],
            "podman run": lambda _number: _podman(bundle / "rootfs"),
        }
        return [
            Figure(f"{name}, no-op p50", value, "ms")
            for name, command in peers.items()
            if (value := _median(command, rounds)) is not None
        ]


def _median(command: Callable[[int], list[str]], rounds: int) -> float | None:
    taken = []
    for number in range(rounds + 1):
        began = now_ms()
        try:
            done = subprocess.run(command(number), stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except OSError:
            return None
        if done.returncode != 0:
            return None
        taken.append(now_ms() - began)
    return percentile(taken[1:], 0.5)  # the first finds cold caches


def _bubblewrap() -> list[str]:
    binds = [word for path in SYSTEM if os.path.exists(path) for word in ("--ro-bind", path, path)]
    return ["bwrap", "--unshare-all", "--cap-drop", "ALL", *binds, "--proc", "/proc", "--dev", "/dev", NOTHING]


def _podman(root: Path) -> list[str]:
    limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]
    mounts = [word for path in SYSTEM if os.path.exists(path) for word in ("-v", f"{path}:{path}:ro")]
    return [
        "podman",
        "--runtime",
        "runc",
        "run",
        "--rm",
        "--network",
        "none",
        *limits,
        *mounts,
        "--rootfs",
        str(root),
        NOTHING,
    ]


@contextmanager
def _bundle(folder: Path) -> Iterator[Path]:
    """A runc bundle whose root has the machine's programs, read-only."""
    root = folder / "rootfs"
    root.mkdir()
    for path in SYSTEM:
        if os.path.exists(path):
            (root / path.lstrip("/")).mkdir()
    if shutil.which("runc") is not None:
        subprocess.run(["runc", "spec"], cwd=folder, check=True)
        settings = json.loads((folder / "config.json").read_text())
        settings["process"] |= {"args": [NOTHING], "terminal": False}
        settings["mounts"] += [
            {"destination": path, "source": path, "type": "bind", "options": ["rbind", "ro"]}
            for path in SYSTEM
            if os.path.exists(path)
        ]
        (folder / "config.json").write_text(json.dumps(settings))
    yield folder
