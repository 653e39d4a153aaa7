"""The snapshots of the real app templates, with their packages from the index that npm is configured with.

Built at most once per machine: they lie where this user's servers have theirs. The command line builds them, because
tests reach nothing beyond this machine.
"""

from __future__ import annotations

import fcntl
import functools
import tempfile
from pathlib import Path

from outlast.base.data_directory import cache_directory
from tests.forked import run_outlast

BUILD_S = 280


@functools.cache
def built_template(name: str) -> str:
    """The name of its snapshot, ready to start from. Blocks while it is built, here or by another test process."""
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{name}.lock").open("w") as lock, tempfile.TemporaryDirectory() as folder:
        fcntl.flock(lock, fcntl.LOCK_EX)
        options = ["--template", name, "--data-dir", str(Path(folder) / "data")]
        return run_outlast("snapshots", "build", *options, timeout=BUILD_S).split()[0]
