"""Limits of a program that reads an untrusted file: it bounds its own time and memory, writes nothing but its answer,
and ends with the server."""

import ctypes
import resource
import signal
import sys
from typing import Final

MEMORY_BYTES: Final = 1_500_000_000
FILES: Final = 32  # files that may be open: Python needs some while it imports
DEATH_SIGNAL: Final = 1  # prctl's PR_SET_PDEATHSIG


def bound_process(cpu_s: int) -> None:
    """Call this first, before the file is read."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(DEATH_SIGNAL, signal.SIGKILL)
    sys.setrecursionlimit(2_000)
