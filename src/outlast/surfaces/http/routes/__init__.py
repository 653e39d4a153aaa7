"""One file per noun. A route reads its input, calls one action, shapes the answer."""

from outlast.apps.documents import (
    agent_run_routes as agent_run,
)
from outlast.apps.documents import (
    routes as documents,
)
from outlast.apps.documents import (
    section_routes as sections,
)
from outlast.apps.documents.comments import routes as comments
from outlast.apps.documents.proposals import routes as review
from outlast.apps.knowledge import (
    module_routes as modules,
)
from outlast.apps.knowledge import (
    search_routes as knowledge_search,
)
from outlast.apps.knowledge import (
    source_routes as knowledge_sources,
)
from outlast.apps.pages import routes as pages
from outlast.apps.screens import (
    file_routes as screen_files,
)
from outlast.apps.screens import (
    image_host_routes as screen_images,
)
from outlast.apps.screens import (
    routes as screens,
)
from outlast.apps.screens.edits import routes as screen_edits
from outlast.kernel.accounts import routes as accounts
from outlast.kernel.administration import routes as administration
from outlast.kernel.attachments import routes as attachments
from outlast.kernel.credits import routes as models
from outlast.kernel.files import routes as artifacts
from outlast.kernel.inbox import routes as inbox
from outlast.kernel.locks import routes as locks
from outlast.kernel.presence import routes as presence
from outlast.kernel.previews import routes as previews
from outlast.kernel.projects import (
    invitation_routes as invitations,
)
from outlast.kernel.projects import (
    member_routes as members,
)
from outlast.kernel.projects import (
    routes as projects,
)
from outlast.kernel.runs import approval_routes as approvals
from outlast.kernel.runs import follow_routes as streams
from outlast.kernel.runs import routes as runs
from outlast.kernel.sandboxes import routes as sandboxes
from outlast.kernel.sandboxes.checkpoints import routes as checkpoints
from outlast.kernel.sandboxes.egress import routes as secret_uses
from outlast.kernel.threads import routes as threads
from outlast.surfaces.http.routes import health

__all__ = [
    "accounts",
    "administration",
    "agent_run",
    "approvals",
    "artifacts",
    "attachments",
    "checkpoints",
    "comments",
    "documents",
    "health",
    "inbox",
    "invitations",
    "knowledge_search",
    "knowledge_sources",
    "locks",
    "members",
    "models",
    "modules",
    "pages",
    "presence",
    "previews",
    "projects",
    "review",
    "runs",
    "sandboxes",
    "screen_edits",
    "screen_files",
    "screen_images",
    "screens",
    "secret_uses",
    "sections",
    "streams",
    "threads",
]
