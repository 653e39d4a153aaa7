"""One file per noun. A route reads its input, calls one action, shapes the answer."""

from outlast.surfaces.http.routes import (
    accounts,
    approvals,
    attachments,
    checkpoints,
    health,
    invitations,
    locks,
    members,
    models,
    previews,
    projects,
    runs,
    sandboxes,
    secret_uses,
    streams,
    threads,
)

__all__ = [
    "accounts",
    "approvals",
    "attachments",
    "checkpoints",
    "health",
    "invitations",
    "locks",
    "members",
    "models",
    "previews",
    "projects",
    "runs",
    "sandboxes",
    "secret_uses",
    "streams",
    "threads",
]
