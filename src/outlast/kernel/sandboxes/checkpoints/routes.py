"""Checkpoints: earlier files of a workspace, their changes, and restoring them."""

from starlette.responses import Response

from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.parameters import Limit
from outlast.kernel.http.responses import page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.sandboxes.checkpoints import actions
from outlast.kernel.sandboxes.checkpoints.shapes import CheckpointAnswer, CheckpointData, ComparisonAnswer
from outlast.kernel.sandboxes.routes import as_download

router = noun_router("Checkpoints")


@router.get("/sandboxes/{sandbox_id}/checkpoints", response_model=Page[CheckpointData])
async def list_sandbox_checkpoints(
    sandbox_id: str, services: Svc, actor: Signed, before: str | None = None, limit: Limit = 50
) -> Response:
    """The checkpoints of the sandbox's workspace, newest first."""
    found = await actions.list_checkpoints(services, actor, sandbox_id, before, limit)
    return reply(page(found.items, found.next))


@router.get("/threads/{thread_id}/checkpoints", response_model=Page[CheckpointData])
async def list_thread_checkpoints(
    thread_id: str, services: Svc, actor: Signed, before: str | None = None, limit: Limit = 50
) -> Response:
    """The checkpoints of the thread's files, newest first, also while it has no sandbox."""
    found = await actions.list_of_thread(services, actor, thread_id, before, limit)
    return reply(page(found.items, found.next))


@router.get("/checkpoints/{checkpoint_id}", response_model=CheckpointAnswer)
async def read_checkpoint(checkpoint_id: str, services: Svc, actor: Signed) -> Response:
    """Read a checkpoint with its files."""
    return reply(await actions.read_checkpoint(services, actor, checkpoint_id))


@router.get("/checkpoints/{checkpoint_id}/diff", response_model=ComparisonAnswer)
async def compare_checkpoints(checkpoint_id: str, services: Svc, actor: Signed, to: str | None = None) -> Response:
    """The changes from this checkpoint to another (`to`). Without `to`: the changes of its answer, or, if it belongs to
    none, the changes since the one before it."""
    return reply(await actions.compare(services, actor, checkpoint_id, to))


@router.get("/checkpoints/{checkpoint_id}/files/content", response_class=Response)
async def read_kept_file(checkpoint_id: str, path: str, services: Svc, actor: Signed) -> Response:
    """A file's bytes as of the checkpoint, the first 5 MB, as a download."""
    return as_download(path, await actions.read_kept_file(services, actor, checkpoint_id, path))


@router.post("/checkpoints/{checkpoint_id}/restore", response_model=CheckpointData)
async def restore_checkpoint(checkpoint_id: str, services: Svc, actor: Signed) -> Response:
    """Restore the files of a checkpoint (editors); the current files are kept as a checkpoint. Refused (409) while a
    run works there or waits for a user. A screen keeps its current theme. Returns the new newest checkpoint."""
    return reply(await actions.restore(services, actor, checkpoint_id))


@router.post("/threads/{thread_id}/workspace/reset", response_model=CheckpointData)
async def reset_workspace(thread_id: str, services: Svc, actor: Signed) -> Response:
    """Start with an empty workspace (editors), if stored files are lost for good (`workspace_unreadable`); a screen
    starts with its template's files. Earlier checkpoints and files on the server's disk stay. Refused (409) while a run
    works there or waits for a user. Returns the new newest checkpoint."""
    return reply(await actions.reset_workspace(services, actor, thread_id))
