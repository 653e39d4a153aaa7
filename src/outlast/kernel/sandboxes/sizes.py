"""What one sandbox may use, and how much room each takes among those that are awake. Pure."""

import math
from typing import Final

from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.templates import Template
from outlast_sandbox.disk_walk import DiskUse
from outlast_sandbox.interface import Limits

MEBIBYTE: Final = 1024 * 1024
MIN_MARGIN: Final = 16 * MEBIBYTE
MAX_FILES: Final = 200_000  # as many as a checkpoint holds
FEW_FILES: Final = 1000


def limits_of(settings: SandboxSettings, template: Template | None) -> Limits:
    """As configured; an app template may need more memory and processor time, and gets it."""
    memory_mb = max(settings.memory_mb, template.memory_mb if template is not None else 0)
    return Limits(
        memory_bytes=memory_mb * MEBIBYTE,
        cpu_count=max(settings.cpus, template.cpus if template is not None else 0.0),
        processes=settings.processes,
        disk_bytes=settings.disk_mb * MEBIBYTE,
        output_bytes=settings.output_bytes,
    )


def most_on_disk(disk_bytes: int, began: DiskUse) -> DiskUse:
    """With more than this a sandbox is ended, given what it may hold and what it held when it woke. A sixteenth above
    the limit, as its commands are ended at the limit itself; one that begins above may stay there, so that what is too
    much can be removed, and may not grow."""
    most = disk_bytes + max(disk_bytes // 16, MIN_MARGIN)
    return DiskUse(max(most, began.bytes + MEBIBYTE), max(MAX_FILES, began.entries + FEW_FILES))


def places_taken(settings: SandboxSettings, template: Template | None) -> int:
    """How many of the sandboxes that may be awake one of these counts for: where their number is set, one; where memory
    decides, as many as fit into what it may use."""
    if settings.max_awake or template is None:
        return 1
    return max(1, math.ceil(template.memory_mb / settings.memory_mb))
