"""The limits of one sandbox, its room among the awake ones, and the number that may be awake. Pure."""

import math
from typing import Final

from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.templates import Template
from outlast_sandbox.interface import Limits

MEBIBYTE: Final = 1024 * 1024
MIN_AWAKE: Final = 4  # sandboxes, also on a machine whose memory holds fewer


def limits_of(settings: SandboxSettings, template: Template | None) -> Limits:
    """The configured limits; an app template that needs more memory and processor time gets more."""
    memory_mb = max(settings.memory_mb, template.memory_mb if template is not None else 0)
    return Limits(
        memory_bytes=memory_mb * MEBIBYTE,
        cpu_count=max(settings.cpus, template.cpus if template is not None else 0.0),
        processes=settings.processes,
        disk_bytes=settings.disk_mb * MEBIBYTE,
        output_bytes=settings.output_bytes,
    )


def places_taken(settings: SandboxSettings, template: Template | None) -> int:
    """The number of awake sandboxes that one of these counts as: one if their number is configured; if memory decides,
    as many as fit into its memory limit."""
    if settings.max_awake or template is None:
        return 1
    return max(1, math.ceil(template.memory_mb / settings.memory_mb))


def awake_allowed(max_awake: int, machine_bytes: int, sandbox_bytes: int) -> int:
    """The number of sandboxes that may be awake at a time: `max_awake`, or if that is 0 as many as fit into the
    machine's memory, but at least `MIN_AWAKE`."""
    return max_awake or max(machine_bytes // sandbox_bytes, MIN_AWAKE)


def hosted_allowed(setting: int, awake: int) -> int:
    """The number of sandboxes that the programs of one project may run on a server that allows `awake` in all. A
    setting of 0 means three quarters of them, rounded up, so that one project cannot take every place."""
    return min(setting, awake) if setting else max(1, math.ceil(3 * awake / 4))
