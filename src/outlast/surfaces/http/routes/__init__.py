"""The routers of the kernel. A route reads its input, calls one action, shapes the answer."""

from fastapi import APIRouter

from outlast.kernel.accounts import routes as accounts
from outlast.kernel.administration import routes as administration
from outlast.kernel.attachments import routes as attachments
from outlast.kernel.credits import routes as models
from outlast.kernel.files import routes as artifacts
from outlast.kernel.inbox import routes as inbox
from outlast.kernel.locks import routes as locks
from outlast.kernel.previews import routes as previews
from outlast.kernel.projects import invitation_routes as invitations
from outlast.kernel.projects import member_routes as members
from outlast.kernel.projects import routes as projects
from outlast.kernel.runs import approval_routes as approvals
from outlast.kernel.runs import follow_routes as streams
from outlast.kernel.runs import routes as runs
from outlast.kernel.sandboxes import routes as sandboxes
from outlast.kernel.sandboxes.checkpoints import routes as checkpoints
from outlast.kernel.sandboxes.egress import routes as secret_uses
from outlast.kernel.threads import routes as threads
from outlast.surfaces.http.routes import health


def kernel_routers() -> list[APIRouter]:
    """Those asked most often first, since a request tries one route after the other."""
    modules = (
        streams,
        runs,
        accounts,
        administration,
        approvals,
        artifacts,
        attachments,
        checkpoints,
        health,
        inbox,
        invitations,
        locks,
        members,
        models,
        previews,
        projects,
        sandboxes,
        secret_uses,
        threads,
    )
    return [module.router for module in modules]
