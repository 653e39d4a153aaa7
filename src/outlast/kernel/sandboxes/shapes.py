"""Sandboxes and the files in them."""

from typing import Literal

from pydantic import Field

from outlast.base.events import Frozen
from outlast.kernel.http.shapes import Answer, Request
from outlast.kernel.runs.shapes import ClockAnswer

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
    """The state of a sandbox, or of a service in it, changed."""

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


class SandboxLimitsAnswer(Answer):
    """The most that a sandbox may use."""

    memory_bytes: int
    disk_bytes: int
    processes: int
    cpus: float


class SandboxAnswer(Answer):
    """A sandbox. Its use of memory, processes and processor is null while it is not awake."""

    id: str
    workspace_id: str
    project_id: str
    thread_id: str | None
    thread_title: str | None
    owner_type: str
    user_id: str | None
    user_name: str | None
    active_run_id: str | None
    provider: str
    node_id: str | None
    snapshot: str | None
    state: Literal["creating", "ready", "pausing", "paused", "resuming", "lost", "killed"]
    pause_kind: Literal["frozen", "stopped"] | None
    memory_bytes: int | None
    processes: int | None
    cpu_s: float | None
    disk_bytes: int | None
    limits: SandboxLimitsAnswer | None
    services: list[ServiceStateData]
    clocks: list[ClockAnswer]
    created_at: str
    last_used_at: str
    ended_at: str | None


class FileAnswer(Answer):
    """A file or folder of the workspace."""

    path: str
    size_bytes: int
    is_dir: bool
    modified_at: str


class ServiceRequest(Request):
    """A shell command to keep running. It listens on `port`, which it also finds in the variable PORT."""

    command: str = Field(min_length=1, max_length=4000)
    port: int = Field(ge=1024, le=65535)
    health_path: str = Field("", max_length=500)


class ServiceAnswer(Answer):
    """A declared service of a sandbox."""

    name: str
    command: str
    port: int
    health_path: str
    state: ServiceStatus
    error: str | None
    restarts: int
    created_at: str
    changed_at: str


class LogAnswer(Answer):
    """The end of a log: of a service, or of the sandbox itself."""

    source: str
    text: str


class SecretUseAnswer(Answer):
    """One request that carried a secret."""

    id: str
    project_id: str
    sandbox_id: str
    mcp_server: str | None
    user_id: str | None
    secret: str
    host: str
    method: str
    path: str
    status: int | None
    at: str
