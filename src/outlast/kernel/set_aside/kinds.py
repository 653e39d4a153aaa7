"""The kinds of items that may be set aside. Each is one kind of work on one kind of thing; `id` is the thing's id."""

from types import MappingProxyType
from typing import Final

SANDBOX_TAKE_UP: Final = "sandbox_take_up"
SANDBOX_CHECK: Final = "sandbox_check"
SANDBOX_SLEEP: Final = "sandbox_sleep"
SANDBOX_DISK: Final = "sandbox_disk"
SANDBOX_END: Final = "sandbox_end"
SANDBOX_EGRESS: Final = "sandbox_egress"
HOSTED_END: Final = "hosted_end"
SERVICES_START: Final = "services_start"
SERVICE: Final = "service"
WORKSPACE_REMOVAL: Final = "workspace_removal"
WORKSPACE_CHECKPOINT: Final = "workspace_checkpoint"
WORKSPACE_EVICTION: Final = "workspace_eviction"
SNAPSHOT: Final = "snapshot"
SOURCE: Final = "source"
FILE: Final = "file"
RUN: Final = "run"
TIMER: Final = "timer"
WEBHOOK: Final = "webhook"

TITLES: Final = MappingProxyType(
    {
        SANDBOX_TAKE_UP: "Reconnect a sandbox after a start",
        SANDBOX_CHECK: "Check a sandbox",
        SANDBOX_SLEEP: "Pause or stop an idle sandbox",
        SANDBOX_DISK: "Measure the files of a sandbox",
        SANDBOX_END: "End a sandbox",
        SANDBOX_EGRESS: "Give a sandbox its network access",
        HOSTED_END: "Pause or end a sandbox whose time is over",
        SERVICES_START: "Start the services of a sandbox",
        SERVICE: "Keep a service of a sandbox running",
        WORKSPACE_REMOVAL: "Remove the files of a deleted workspace",
        WORKSPACE_CHECKPOINT: "Save the files of a workspace",
        WORKSPACE_EVICTION: "Free the folder of an unused workspace",
        SNAPSHOT: "Build a snapshot",
        SOURCE: "Read a documentation source",
        FILE: "Read an uploaded file",
        RUN: "Carry out a run",
        TIMER: "Handle a timer",
        WEBHOOK: "Send an event to a webhook",
    }
)
"""The titles of the kinds, for administrators."""
