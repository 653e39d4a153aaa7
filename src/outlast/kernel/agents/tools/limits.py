"""What a model reads when a call ran into a limit of its sandbox: which one, how large it is, what to do instead."""

from typing import Final

from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast_sandbox.interface import CommandResult

WORKSPACE_FULL: Final = "Remove what is not needed, then write again."
_ADVICE: Final = {
    "memory": "it ran out of memory; all that runs in the sandbox may have {memory_mb} MiB. Work on less at a time",
    "processes": "no more processes could be started; the sandbox may have {processes} processes and threads. Start "
    "fewer side by side, and end those that are left running",
    "disk": "the workspace is full; it may hold {disk_mb} MiB. Remove what is not needed",
    "cancelled": "it was cancelled",
}


def how_it_ended(result: CommandResult, settings: SandboxSettings) -> str:
    """One line: the exit code, or the limit that ended the command."""
    if result.timed_out:
        ending = (
            f"stopped after {result.duration_s:.0f} s, its time limit. A command may take at most "
            f"{settings.command_timeout_s:.0f} s; do it in parts, or start what has to stay running as a service"
        )
    elif result.killed_reason:
        advice = _ADVICE.get(result.killed_reason, result.killed_reason).format(
            memory_mb=settings.memory_mb, processes=settings.processes, disk_mb=settings.disk_mb
        )
        ending = f"stopped: {advice}"
    else:
        ending = f"exit code {result.exit_code}"
    if result.truncated:
        ending += "; the middle of the output was left out. Write it to a file and read the part that is needed"
    return ending


def over_a_limit(result: CommandResult) -> bool:
    """Whether a limit ended it, or took something away from it, whatever its exit code says."""
    return result.timed_out or result.killed_reason in ("memory", "processes", "disk")
