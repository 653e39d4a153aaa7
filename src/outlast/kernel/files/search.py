"""Searches the files of a project, for users and agents."""

import anyio.to_thread

from outlast.base.errors import Conflict, NotFound
from outlast.db.blobs.port import Blobs
from outlast.db.database import Database, Tx
from outlast.kernel.files import store
from outlast.kernel.files.index import PACKAGE
from outlast.kernel.files.kinds import page_of
from outlast.kernel.files.rows import ArtifactRow
from outlast.kernel.files.shapes import ArtifactData, FileHitAnswer, FileSearchAnswer, FileTextAnswer
from outlast.kernel.files.tables import artifacts
from outlast.kernel.files.texts import PAGE_BREAK
from outlast.kernel.library.search import Searcher


class ProjectFiles:
    """Searches and reads files. The caller checks permissions."""

    def __init__(self, db: Database, blobs: Blobs, searcher: Searcher) -> None:
        self._db, self._blobs, self._searcher = db, blobs, searcher

    async def search(self, project_id: str, query: str, limit: int = 5) -> FileSearchAnswer:
        """Search the files of a project."""
        answer = await self._searcher.search(query, project_id=project_id, package=PACKAGE, limit=limit)
        ids = [hit.source_id for hit in answer.items if hit.source_id is not None]  # modules have none
        known = await self._db.read(store.by_source, project_id, ids) if ids else {}
        found = [
            FileHitAnswer(artifact=known[hit.source_id], page=page_of(hit.url), **dict(hit))
            for hit in answer.items
            if hit.source_id in known
        ]
        has_files = bool(found) or await self._db.read(Tx.exists, artifacts, {"project_id": project_id})
        return FileSearchAnswer(items=found, note=answer.note if has_files else "The project has no files.")

    async def read(self, project_id: str, artifact_id: str, page: int = 1) -> FileTextAnswer:
        """A page of a file's text. Raises `NotFound`, or `Conflict` if there is no text."""

        def find(tx: Tx) -> tuple[ArtifactData, str | None]:
            row = tx.find(ArtifactRow, artifacts, {"id": artifact_id, "project_id": project_id})
            if row is None:
                raise NotFound("The project has no such file.", artifact_id=artifact_id)
            return store.artifact_data(tx, artifact_id), row.text_blob

        data, blob = await self._db.read(find)
        if blob is None:
            words = "Its text is being read." if data.state == "reading" else data.trouble or "It contains no text."
            raise Conflict(
                "This file has no text that can be read.", hint=words, artifact_id=artifact_id, state=data.state
            )
        texts = (await anyio.to_thread.run_sync(self._blobs.get, blob)).decode().split(PAGE_BREAK)
        if not 1 <= page <= len(texts):
            raise NotFound(f"This file has {len(texts)} pages.", pages=len(texts))
        return FileTextAnswer(artifact=data, text=texts[page - 1], page=page, pages=len(texts))
