"""Files of projects: upload, list, open, read, search, delete."""

import anyio.to_thread

from outlast.base.errors import MalformedInput
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.files import store
from outlast.kernel.files.kinds import file_name, kind_of
from outlast.kernel.files.rows import ArtifactRow
from outlast.kernel.files.search import ProjectFiles
from outlast.kernel.files.settings import FileSettings
from outlast.kernel.files.shapes import ArtifactData, FileSearchAnswer, FileTextAnswer
from outlast.kernel.files.tables import artifacts
from outlast.kernel.library.search import SEARCH
from outlast.kernel.limits.rules import check_bytes, clean
from outlast.kernel.limits.store import check_made_rate
from outlast.kernel.lists import Listed
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read, in_write


async def upload_artifact(services: Services, actor: Actor, project_id: str, name: str, content: bytes) -> ArtifactData:
    """Upload a file to a project (editors); its text is read in the background. The same content under the same name is
    the same file. Raises `InputTooLarge`, `MalformedInput`, `TooManyArtifacts`, `RateLimited`, `DiskFull`. The content
    is written before the row: a failure between the two leaves an unnamed blob, never a row without a file."""
    most_a_minute = services.settings.limits.files_per_minute_per_user

    def allowed(tx: Tx) -> None:
        require(tx, actor, project_id, Right.EDIT)
        check_made_rate(tx, artifacts, actor.user_id, most_a_minute, things="files")

    await services.db.read(allowed)  # before anything is written
    asked = services.settings.of(FileSettings)
    check_bytes("The file", len(content), asked.artifact_bytes)
    shown = file_name(clean(name))
    kind = await anyio.to_thread.run_sync(kind_of, shown, content)
    blob = await anyio.to_thread.run_sync(services.blobs.put, content)

    def run(tx: Tx) -> ArtifactData:
        allowed(tx)
        most = asked.artifacts_per_project
        made, fresh = store.add(tx, project_id, actor.user_id, shown, kind, len(content), blob, most)
        if not fresh:
            return store.artifact_data(tx, made)
        return store.announce(tx, made, "artifact.created", by=actor.user_id)

    return await services.db.write(run)


@in_read
def list_artifacts(
    tx: Tx, actor: Actor, project_id: str, before: str | None = None, limit: int = 50
) -> Listed[ArtifactData, str]:
    """The project's files, newest first (members)."""
    require(tx, actor, project_id, Right.READ)
    return store.list_artifacts(tx, project_id, before, limit)


@in_read
def read_artifact(tx: Tx, actor: Actor, artifact_id: str) -> ArtifactData:
    """One file (members)."""
    require_owned(tx, actor, ArtifactRow, artifacts, "artifact", artifact_id, Right.READ)
    return store.artifact_data(tx, artifact_id)


async def open_artifact(services: Services, actor: Actor, artifact_id: str) -> tuple[ArtifactData, bytes]:
    """A file with its content (members)."""

    def run(tx: Tx) -> tuple[ArtifactData, str]:
        row = require_owned(tx, actor, ArtifactRow, artifacts, "artifact", artifact_id, Right.READ)
        return store.artifact_data(tx, artifact_id), row.blob

    data, blob = await services.db.read(run)
    return data, await anyio.to_thread.run_sync(services.blobs.get, blob)


async def read_artifact_text(services: Services, actor: Actor, artifact_id: str, page: int = 1) -> FileTextAnswer:
    """A page of a file's text (members). Raises `NotFound`, and `Conflict` if there is no text (yet)."""
    row = await services.db.read(require_owned, actor, ArtifactRow, artifacts, "artifact", artifact_id, Right.READ)
    return await _files(services).read(row.project_id, artifact_id, page)


async def search_artifacts(
    services: Services, actor: Actor, project_id: str, query: str, limit: int = 10
) -> FileSearchAnswer:
    """Search the texts of a project's files (members). Raises `MalformedInput` for a query of spaces."""
    if not query.strip():
        raise MalformedInput("The query is empty.", hint="Enter words to search for.", field="q")
    await services.db.read(require, actor, project_id, Right.READ)
    return await _files(services).search(project_id, query, limit)


@in_write
def delete_artifact(tx: Tx, actor: Actor, artifact_id: str) -> None:
    """Delete a file and its text (the user who uploaded it, if still an editor, and owners)."""
    row = require_owned(tx, actor, ArtifactRow, artifacts, "artifact", artifact_id, Right.EDIT)
    if row.created_by != actor.user_id:
        require(tx, actor, row.project_id, Right.OWN)
    store.delete(tx, artifact_id)


def _files(services: Services) -> ProjectFiles:
    return ProjectFiles(services.db, services.blobs, services.implementation(SEARCH))
