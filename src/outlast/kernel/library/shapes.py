"""Saved modules."""

from typing import Literal

from outlast.base.events import Frozen


class ModuleData(Frozen):
    """Code that an agent saved for reuse: `session` modules belong to the thread, `user` modules to their publisher."""

    id: str
    project_id: str | None
    workspace_id: str | None
    page_id: str | None
    scope: Literal["session", "user"]
    path: str
    description: str
    exports: list[str]
    usage: str
    verified: bool
    published_by: str | None = None
    created_at: str
    updated_at: str


class ModulesSaved(Frozen):
    """Modules that a run saved; search finds them from now on."""

    run_id: str
    workspace_id: str
    modules: list[ModuleData]
