"""A source read, of whatever kind it is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import anyio.to_thread

from outlast.apps.knowledge.documents import Reading
from outlast.apps.knowledge.http_fetch import Fetcher, NotRead
from outlast.apps.knowledge.private_addresses import Allowed
from outlast.apps.knowledge.readers.folders import read_path
from outlast.apps.knowledge.readers.own_docs import LOCATION, read_own_docs
from outlast.apps.knowledge.readers.packages import PackageReader
from outlast.apps.knowledge.readers.repositories import read_archive
from outlast.apps.knowledge.readers.web import WebReader
from outlast.apps.knowledge.rows import KnowledgePageRow
from outlast.apps.knowledge.shapes import SourceKind
from outlast.apps.knowledge.sources import archive_of, is_web
from outlast.kernel.http.docs_site import FOLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be read. `etag` and `modified` are those that its own address had, `pages` is what is stored of its
    documents by address: their hosts are asked whether they changed. `files`: it comes from the configuration, which
    may name files of this machine. `installed` is the package whose version it has."""

    kind: SourceKind
    location: str
    files: bool = False
    allowed: Allowed = frozenset()
    installed: str = ""
    etag: str | None = None
    modified: str | None = None
    pages: Mapping[str, KnowledgePageRow]


class SourceReader:
    """Reads sources. Holds nothing itself."""

    def __init__(
        self, fetcher: Fetcher, packages: PackageReader, most_bytes: int, most_pages: int, docs: Path = FOLDER
    ) -> None:
        """`docs` is the folder of Outlast's own documentation, as it is built."""
        self._fetcher, self._packages, self._most_bytes, self._docs = fetcher, packages, most_bytes, docs
        self._web = WebReader(fetcher, most_bytes, most_pages)

    async def read(self, wish: Wish) -> Reading:
        """Its documents as they are now. Raises `NotRead`. A cancelled call leaves nothing behind."""
        if wish.kind == "package":
            return await self._packages.read(wish.location)
        found = await (self._from_web(wish) if is_web(wish.location) else self._from_disk(wish))
        if wish.installed and not found.version:
            found = replace(found, version=await self._packages.version(wish.installed))
        return found

    async def _from_web(self, wish: Wish) -> Reading:
        match wish.kind:
            case "llms_txt":
                return await self._web.listed(wish.location, wish.pages, wish.allowed)
            case "sitemap":
                return await self._web.site(wish.location, wish.pages, wish.allowed)
            case "folder":
                archive = archive_of(wish.location)
                if archive is None:
                    raise NotRead(f"{wish.location} is no address of a repository or of an archive")
                return await read_archive(
                    self._fetcher, archive, self._most_bytes, wish.etag, wish.modified, wish.allowed
                )
            case _:
                return await self._web.document(wish.location, wish.allowed, wish.etag, wish.modified)

    async def _from_disk(self, wish: Wish) -> Reading:
        if not wish.files:
            raise NotRead(f"{wish.location} is no address that begins with http:// or https://")
        if wish.location == LOCATION:
            return await anyio.to_thread.run_sync(read_own_docs, wish.etag, self._docs)
        return await anyio.to_thread.run_sync(read_path, wish.location, self._most_bytes)
