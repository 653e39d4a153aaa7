"""What the events of sandboxes, their files and checkpoints carry."""

from typing import Literal

from outlast.base.parts import Frozen

ServiceStatus = Literal["stopped", "starting", "healthy", "failed"]


class FileChange(Frozen):
    path: str
    size_bytes: int | None = None
    change: Literal["written", "deleted"] = "written"


class FilesChanged(Frozen):
    """A tool call changed files."""

    run_id: str | None = None
    workspace_id: str
    files: list[FileChange]


class ServiceStateData(Frozen):
    """A declared service of a sandbox."""

    name: str
    port: int
    state: ServiceStatus
    error: str | None = None
    restarts: int = 0


class SandboxStateData(Frozen):
    """A sandbox, or a service in it, has another state."""

    sandbox_id: str
    workspace_id: str
    state: Literal["creating", "ready", "pausing", "paused", "resuming", "lost", "killed"]
    pause_kind: Literal["frozen", "stopped"] | None = None
    reason: str | None = None
    services: list[ServiceStateData] = []  # noqa: RUF012 - pydantic copies it


class ContextLost(Frozen):
    """A sandbox was lost; its files are kept, its processes and variables are gone."""

    workspace_id: str
    sandbox_id: str
    text: str


class SnapshotProgress(Frozen):
    """Progress of the snapshot that a sandbox of this project waits for."""

    name: str
    state: Literal["building", "ready", "failed"]
    step: str = ""
    output: str = ""
    error: str | None = None
    older: bool = False
    template: str = ""


class CheckpointData(Frozen):
    """A workspace's files at one moment."""

    id: str
    workspace_id: str
    project_id: str
    run_id: str | None
    message_id: str | None
    effect_id: str | None
    parent_id: str | None
    reason: Literal["tool", "message", "sleep", "fork", "restore", "person", "template"]
    tree: str
    files: int
    size_bytes: int
    created_at: str


class CheckpointCreated(Frozen):
    """A workspace's files were saved, or restored (`reason` restore)."""

    checkpoint: CheckpointData
