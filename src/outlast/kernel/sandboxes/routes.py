"""Sandboxes: list, read, pause, resume, kill, and read their files."""

import mimetypes
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from outlast.base.clock import iso
from outlast.kernel.http.auth import Signed, Svc
from outlast.kernel.http.responses import file_reply, nothing, page, reply
from outlast.kernel.http.routers import noun_router
from outlast.kernel.http.shapes import Page
from outlast.kernel.sandboxes import actions
from outlast.kernel.sandboxes.services import actions as sandbox_services
from outlast.kernel.sandboxes.services.rules import Declared
from outlast.kernel.sandboxes.shapes import FileAnswer, LogAnswer, SandboxAnswer, ServiceAnswer, ServiceRequest
from outlast_sandbox.interface import FileEntry

router = noun_router("Sandboxes")


@router.get("/projects/{project_id}/sandboxes", response_model=Page[SandboxAnswer])
async def list_sandboxes(project_id: str, services: Svc, actor: Signed) -> Response:
    """The project's living sandboxes, newest first, with their current usage; none is woken for that."""
    return reply(page(await actions.list_sandboxes(services, actor, project_id)))


@router.get("/sandboxes/{sandbox_id}", response_model=SandboxAnswer)
async def read_sandbox(sandbox_id: str, services: Svc, actor: Signed) -> Response:
    """Read one sandbox with its current usage; it is not woken for that."""
    return reply(await actions.read_sandbox(services, actor, sandbox_id))


@router.post("/sandboxes/{sandbox_id}/pause", response_model=SandboxAnswer)
async def pause_sandbox(sandbox_id: str, services: Svc, actor: Signed) -> Response:
    """Freeze a sandbox (editors); a run that waits for a user there is paused with it."""
    return reply(await actions.pause_sandbox(services, actor, sandbox_id))


@router.post("/sandboxes/{sandbox_id}/resume", response_model=SandboxAnswer)
async def resume_sandbox(sandbox_id: str, services: Svc, actor: Signed) -> Response:
    """Wake a sandbox, or start a new one over the same files (editors)."""
    return reply(await actions.resume_sandbox(services, actor, sandbox_id))


@router.post("/sandboxes/{sandbox_id}/kill", response_model=SandboxAnswer)
async def kill_sandbox(sandbox_id: str, services: Svc, actor: Signed) -> Response:
    """End a sandbox; its files stay (editors)."""
    return reply(await actions.kill_sandbox(services, actor, sandbox_id))


@router.get("/sandboxes/{sandbox_id}/logs", response_model=Page[LogAnswer])
async def read_logs(sandbox_id: str, services: Svc, actor: Signed) -> Response:
    """The output of a sandbox's start and of its shim, and the last 64 KiB of each service's output."""
    return reply(page(await sandbox_services.read_logs(services, actor, sandbox_id)))


@router.get("/sandboxes/{sandbox_id}/services", response_model=Page[ServiceAnswer])
async def list_services(sandbox_id: str, services: Svc, actor: Signed) -> Response:
    """The services of the sandbox's workspace; they stay when the sandbox is replaced."""
    return reply(page(await sandbox_services.list_services(services, actor, sandbox_id)))


@router.get("/sandboxes/{sandbox_id}/services/{name}", response_model=ServiceAnswer)
async def read_service(sandbox_id: str, name: str, services: Svc, actor: Signed) -> Response:
    """Read one service."""
    return reply(await sandbox_services.read_service(services, actor, sandbox_id, name))


@router.put("/sandboxes/{sandbox_id}/services/{name}", response_model=ServiceAnswer)
async def put_service(sandbox_id: str, name: str, body: ServiceRequest, services: Svc, actor: Signed) -> Response:
    """Declare a service, or replace its declaration (editors). It starts now if the sandbox is awake, otherwise with
    the sandbox."""
    wanted = Declared(name, body.command, body.port, body.health_path)
    return reply(await sandbox_services.put_service(services, actor, sandbox_id, wanted))


@router.delete("/sandboxes/{sandbox_id}/services/{name}", status_code=204)
async def remove_service(sandbox_id: str, name: str, services: Svc, actor: Signed) -> Response:
    """End a service and remove it with its log (editors)."""
    await sandbox_services.remove_service(services, actor, sandbox_id, name)
    return nothing()


@router.get("/sandboxes/{sandbox_id}/files", response_model=Page[FileAnswer])
async def list_files(sandbox_id: str, services: Svc, actor: Signed, path: str = "") -> Response:
    """Files and folders below a path of the workspace."""
    return reply(page([_shown(entry) for entry in await actions.list_files(services, actor, sandbox_id, path)]))


@router.get("/sandboxes/{sandbox_id}/files/content", response_class=Response)
async def read_file(sandbox_id: str, path: str, services: Svc, actor: Signed) -> Response:
    """A file's bytes, the first 5 MB, as a download."""
    return as_download(path, await actions.read_file(services, actor, sandbox_id, path))


def as_download(path: str, content: bytes) -> Response:
    """A file that agents wrote: never served as a page of this origin."""
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    shown_as = kind if kind.startswith("image/") else "text/plain; charset=utf-8"
    return file_reply(path.rsplit("/", 1)[-1], content, shown_as, inline=False, cache="no-store")


def _shown(entry: FileEntry) -> dict[str, Any]:
    modified = iso(datetime.fromtimestamp(entry.mtime, UTC))
    return {"path": entry.path, "size_bytes": entry.size, "is_dir": entry.is_dir, "modified_at": modified}
