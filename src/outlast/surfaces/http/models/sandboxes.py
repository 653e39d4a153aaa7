"""Sandboxes and the files in them."""

from typing import Literal

from outlast.surfaces.http.models.shapes import Answer


class SandboxAnswer(Answer):
    id: str
    workspace_id: str
    project_id: str
    thread_id: str | None
    provider: str
    state: Literal["creating", "ready", "pausing", "paused", "resuming", "lost", "killed"]
    pause_kind: Literal["frozen", "stopped"] | None
    memory_bytes: int | None
    processes: int | None
    cpu_s: float | None
    created_at: str
    last_used_at: str
    ended_at: str | None


class FileAnswer(Answer):
    """A file or folder; `path` is relative to the workspace."""

    path: str
    size_bytes: int
    is_dir: bool
    modified_at: str
