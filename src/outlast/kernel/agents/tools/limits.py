"""Texts for a model about a call that reached a limit of its sandbox: the limit, its value, the alternative."""

from typing import Final

from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast_sandbox.interface import CommandResult

WORKSPACE_FULL: Final = "Remove files that you do not need, then write again."
_ADVICE: Final = {
    "memory": "it ran out of memory; all processes in the sandbox may use {memory_mb} MiB. Process less at a time",
    "processes": "no more processes could be started; the sandbox may have {processes} processes and threads. Start "
    "fewer in parallel, and end those that are still running",
    "disk": "the workspace is full; it may hold {disk_mb} MiB. Remove files that you do not need",
    "cancelled": "it was cancelled",
}


def how_it_ended(result: CommandResult, settings: SandboxSettings) -> str:
    """One line: the exit code, or the limit that ended the command."""
    if result.timed_out:
        ending = (
            f"stopped after {result.duration_s:.0f} s, its time limit. A command may take at most "
            f"{settings.command_timeout_s:.0f} s; split it, or start a long-running process as a service"
        )
    elif result.killed_reason:
        advice = _ADVICE.get(result.killed_reason, result.killed_reason).format(
            memory_mb=settings.memory_mb, processes=settings.processes, disk_mb=settings.disk_mb
        )
        ending = f"stopped: {advice}"
    else:
        ending = f"exit code {result.exit_code}"
    if result.truncated:
        ending += "; the middle of the output was omitted. Write it to a file and read the part that you need"
    return ending


def over_a_limit(result: CommandResult) -> bool:
    """True if a limit ended it, or affected it, whatever its exit code is."""
    return result.timed_out or result.killed_reason in ("memory", "processes", "disk")
