"""Read a source of any kind."""

from dataclasses import replace
from pathlib import Path

import anyio.to_thread

from outlast.apps.knowledge.readers.folders import read_path
from outlast.apps.knowledge.readers.own_docs import LOCATION, read_own_docs
from outlast.apps.knowledge.readers.packages import PackageReader
from outlast.apps.knowledge.readers.repositories import read_archive
from outlast.apps.knowledge.readers.web import Known, WebReader
from outlast.apps.knowledge.rows import KnowledgeSourceRow
from outlast.apps.knowledge.source_documents import Reading
from outlast.apps.knowledge.sources import archive_of, is_web
from outlast.kernel.http.docs_site import FOLDER
from outlast.kernel.http.private_addresses import NONE, Allowed
from outlast.kernel.web.http_fetch import Fetcher, NotRead


class SourceReader:
    """Reads sources. Stateless."""

    def __init__(
        self, fetcher: Fetcher, packages: PackageReader, most_bytes: int, most_pages: int, docs: Path = FOLDER
    ) -> None:
        """`docs` is the folder of Outlast's own documentation, as built."""
        self._fetcher, self._packages, self._most_bytes, self._docs = fetcher, packages, most_bytes, docs
        self._web = WebReader(fetcher, most_bytes, most_pages)

    async def read(
        self, source: KnowledgeSourceRow, pages: Known, *, allowed: Allowed = NONE, installed: str = ""
    ) -> Reading:
        """The current documents of the source. The hosts are asked for changes only, if the source has `etag` or
        `modified` of its own address, and of its documents (`pages`). `installed` is the package whose version it has.
        Raises `NotRead`. A cancelled call leaves nothing behind."""
        if source.kind == "package":
            return await self._packages.read(source.location)
        found = await (self._from_web(source, pages, allowed) if is_web(source.location) else self._from_disk(source))
        if installed and not found.version:
            found = replace(found, version=await self._packages.version(installed))
        return found

    async def _from_web(self, source: KnowledgeSourceRow, pages: Known, allowed: Allowed) -> Reading:
        url, etag, modified = source.location, source.etag, source.modified
        match source.kind:
            case "llms_txt":
                return await self._web.listed(url, pages, allowed)
            case "sitemap":
                return await self._web.site(url, pages, allowed)
            case "folder":
                archive = archive_of(url)
                if archive is None:
                    raise NotRead(f"{url} is not the address of a repository or an archive")
                return await read_archive(self._fetcher, archive, self._most_bytes, etag, modified, allowed)
            case _:
                return await self._web.document(url, allowed, etag, modified)

    async def _from_disk(self, source: KnowledgeSourceRow) -> Reading:
        if source.project_id is not None:  # only the configuration may name files of this machine
            raise NotRead(f"{source.location} is not an address that begins with http:// or https://")
        if source.location == LOCATION:
            return await anyio.to_thread.run_sync(read_own_docs, source.etag, self._docs)
        return await anyio.to_thread.run_sync(read_path, source.location, self._most_bytes)
