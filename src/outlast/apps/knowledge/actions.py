"""Documentation: search it, and list, add, read, refresh and remove its sources. All projects share the
sources of the configuration."""

from datetime import timedelta
from typing import Final

import anyio.to_thread
import sqlalchemy as sa

from outlast.apps.knowledge import source_store, store
from outlast.apps.knowledge.passage_changes import Contents
from outlast.apps.knowledge.rows import KnowledgeSourceRow
from outlast.apps.knowledge.settings import PRIVATE_HINT, KnowledgeSettings
from outlast.apps.knowledge.shapes import (
    LOCATION_CHARS,
    PACKAGE_CHARS,
    PackagesReply,
    PassageData,
    SourceData,
    SourceKind,
    SourceRequest,
)
from outlast.apps.knowledge.source_documents import Reading, document_of
from outlast.apps.knowledge.source_store import NewSource
from outlast.apps.knowledge.sources import INSTALLED, cut_name, is_web, kind_of, private_exceptions
from outlast.apps.knowledge.tables import knowledge_sources
from outlast.base.errors import Conflict, InputTooLarge, MalformedInput
from outlast.db.database import Tx
from outlast.kernel.accounts.actor import Actor
from outlast.kernel.library.search import SEARCH, SearchReply
from outlast.kernel.limits.rules import check_bytes, checked_line, clean, is_blank
from outlast.kernel.lists import Listed
from outlast.kernel.projects import store as projects
from outlast.kernel.projects.permissions import require, require_owned
from outlast.kernel.projects.rules import Right
from outlast.kernel.services import Services, in_read, in_write
from outlast.kernel.web.http_fetch import NotRead, checked_address
from outlast_sandbox.package_names import NPM, PYPI, NotAPackage, name_of, parse_package

MAX_PER_PROJECT: Final = 500
NOT_SOONER: Final = timedelta(seconds=15)  # minimum time between refreshes of configured sources


async def search_knowledge(
    services: Services,
    actor: Actor,
    query: str,
    *,
    project_id: str | None = None,
    package: str | None = None,
    limit: int | None = None,
) -> SearchReply:
    """Search the documentation of all projects, the project's (None: the actor's default one) and the modules
    published to the actor (members). `limit` None uses the setting. Raises `MalformedInput` for a query of spaces."""
    if not query.strip():
        raise MalformedInput("The query is empty.", hint="Give words to search for.", field="q")
    chosen = await services.db.read(_readable_project, actor, project_id)
    return await services.implementation(SEARCH).search(
        query,
        project_id=chosen,
        package=package or None,
        limit=limit or services.settings.of(KnowledgeSettings).results,
        user_id=actor.user_id,
    )


async def list_packages(services: Services, actor: Actor, project_id: str | None = None) -> PackagesReply:
    """The packages that can be searched in a project, by name (members)."""
    chosen = await services.db.read(_readable_project, actor, project_id)
    found = services.implementation(SEARCH)
    packages = await found.packages(chosen)
    return PackagesReply(items=packages, next=None, embedder=found.embedder, reranker=found.reranks)


async def list_sources(
    services: Services, actor: Actor, project_id: str | None = None, package: str | None = None
) -> list[SourceData]:
    """The sources of the configuration and of a project (None: the actor's default one), by package (members)."""

    def run(tx: Tx) -> list[SourceData]:
        rows = store.list_sources(tx, _readable_project(tx, actor, project_id), package or None)
        return [store.source_data(tx, row, _model(services)) for row in rows]

    return await services.db.read(run)


async def read_source(services: Services, actor: Actor, source_id: str) -> SourceData:
    """One source (members; one of the configuration: anyone who is signed in). Raises `NotFound`."""

    def run(tx: Tx) -> SourceData:
        return store.source_data(tx, _source(tx, actor, source_id, Right.READ), _model(services))

    return await services.db.read(run)


@in_read
def read_passages(tx: Tx, actor: Actor, source_id: str, after: int, limit: int) -> Listed[PassageData, int]:
    """At most `limit` passages of a source after the position `after` (members). Raises `NotFound`."""
    _source(tx, actor, source_id, Right.READ)
    found = store.page_of_passages(tx, source_id, after, limit + 1)
    shown = found[:limit]
    return Listed(shown, shown[-1].position if len(found) > limit else None)


async def add_source(services: Services, actor: Actor, asked: SourceRequest) -> SourceData:
    """Add documentation to a project (editors; None: the actor's default one). An address is read soon; a text is added
    at once. Adding the same place again rereads that source. Requests never make the server read its own files. Raises
    `MalformedInput`, `InputTooLarge`."""
    if (asked.location is None) == (asked.text is None):
        raise MalformedInput(
            "A source has either a location or a text.", hint="Send exactly one of the two.", field="location"
        )
    if asked.project_id is not None:  # before the slow part
        await services.db.read(require, actor, asked.project_id, Right.EDIT)
    package = package_label(asked.package)
    contents = None
    if asked.text is None:
        location, kind = _place(services, asked, package)
    else:
        location, kind = checked_line("The name", asked.name or package, PACKAGE_CHARS), "text"
        contents = await _contents(services, location, asked.text)

    def run(tx: Tx) -> SourceData:
        chosen = _for_editing(tx, actor, asked.project_id)
        new = NewSource(package, kind, location, chosen, actor.user_id)
        source_id = source_store.add(tx, new, tx.now if contents is None else None)
        if contents is not None:
            source_store.fill(tx, source_id, contents, None)
        data = source_store.announce(tx, source_id, _model(services))
        assert data is not None  # added a moment ago, in this transaction
        return data

    return await services.db.write(run)


async def refresh_source(services: Services, actor: Actor, source_id: str) -> SourceData:
    """Read a source again now (editors; one of the configuration: any signed-in user, at most every 15 s).
    Raises `NotFound`, `Conflict` (an uploaded text cannot be read again)."""

    def run(tx: Tx) -> SourceData:
        row = _source(tx, actor, source_id, Right.EDIT)
        if row.kind in source_store.HANDED_IN:
            raise Conflict(
                f"{row.location} was uploaded as a text and cannot be read again.",
                hint="Add it again under the same name; unchanged passages are kept.",
                source_id=source_id,
            )
        lately = row.checked_at is not None and tx.now - row.checked_at < NOT_SOONER
        if not (row.project_id is None and lately):
            source_store.want_now(tx, [source_id])
        return store.source_data(tx, _source(tx, actor, source_id, Right.READ), _model(services))

    return await services.db.write(run)


@in_write
def remove_source(tx: Tx, actor: Actor, source_id: str) -> None:
    """Remove a source with its passages (editors). Raises `NotFound`, `Conflict` (it comes from the configuration)."""
    row = _source(tx, actor, source_id, Right.EDIT)
    if row.project_id is None:
        raise Conflict(
            f"The source {row.location} comes from the server's configuration.",
            hint="Ask the operator to remove it from docs in its [[sandbox.dependencies]] table.",
            source_id=source_id,
        )
    if row.kind == "artifact":
        raise Conflict(
            "This source is the text of a file of the project.",
            hint="Delete the file: its text is deleted with it.",
            source_id=source_id,
            artifact_id=row.location,
        )
    source_store.remove(tx, source_id)


def package_label(text: str) -> str:
    """The label of documentation: a package in its canonical spelling, or any short name."""
    label = checked_line("The package", text, PACKAGE_CHARS)
    if label.startswith((NPM, PYPI, "@")):
        return name_of(_parse_package(label, "package"))
    return label


def _parse_package(text: str, field: str) -> str:
    try:
        return parse_package(text)
    except NotAPackage as error:
        raise MalformedInput(f"{text!r} is not a package.", hint=f"Write {error}.", field=field) from None


async def _contents(services: Services, name: str, stated: str) -> Contents:
    """The passages of an uploaded text. Raises `MalformedInput`, `InputTooLarge`."""
    text = clean(stated)
    if is_blank(text):
        raise MalformedInput("The text is empty.", hint="Send some Markdown.", field="text")
    limits = services.settings.of(KnowledgeSettings)
    check_bytes("The text", len(text.encode()), limits.source_bytes)
    document, cuts = await anyio.to_thread.run_sync(document_of, name, text, limits.passage_chars)
    if not cuts:
        raise MalformedInput(f"{name} contains no searchable text.", hint="Send some Markdown.")
    return Contents(Reading(documents=[document]), {document.url: cuts}, cut_name(limits.passage_chars))


def _place(services: Services, asked: SourceRequest, package: str) -> tuple[str, SourceKind]:
    """The place to read, and its kind. Raises `MalformedInput`."""
    stated = (asked.location or "").strip()
    if asked.kind == "package" or stated == INSTALLED or stated.startswith((NPM, PYPI)):
        return _parse_package(package if stated in ("", INSTALLED) else stated, "location"), "package"
    if asked.kind in source_store.HANDED_IN:
        raise MalformedInput(
            "Send a text as `text` with a `name`; upload a file to /v1/projects/{id}/artifacts.", field="kind"
        )
    location = checked_line("The location", stated, LOCATION_CHARS)
    if not is_web(location):
        raise MalformedInput(
            f"{location[:200]!r} is neither an address that begins with http:// or https:// nor a package.",
            hint="Send your own file as text; the server does not read its own files on request. In a "
            "terminal: outlast docs add PACKAGE FILE.",
            field="location",
        )
    try:
        allowed = private_exceptions(services.settings.of(KnowledgeSettings).allow_private)
        checked_address(location, allowed, PRIVATE_HINT)
    except NotRead as error:
        raise MalformedInput(f"The location cannot be read: {error}.", field="location") from None
    return location, asked.kind or kind_of(location)


def _readable_project(tx: Tx, actor: Actor, project_id: str | None) -> str:
    """The requested project, which the actor may read; "" for an actor without a default project, who sees what all
    projects share."""
    chosen = project_id or projects.find_default_project(tx, actor.user_id)
    if chosen is None:
        return ""
    require(tx, actor, chosen, Right.READ)
    return chosen


def _for_editing(tx: Tx, actor: Actor, project_id: str | None) -> str:
    chosen = project_id or projects.ensure_default_project(tx, actor.user_id)
    require(tx, actor, chosen, Right.EDIT)
    mine = (knowledge_sources.c.project_id == chosen) & (knowledge_sources.c.kind != "artifact")
    count = tx.execute(sa.select(sa.func.count()).select_from(knowledge_sources).where(mine)).scalar_one()
    if count >= MAX_PER_PROJECT:
        raise InputTooLarge(
            f"The project has {count} sources of documentation; at most {MAX_PER_PROJECT} are allowed.",
            hint="Remove some, or put several documents into one source (llms.txt, a sitemap, a folder).",
            project_id=chosen,
        )
    return chosen


def _source(tx: Tx, actor: Actor, source_id: str, right: Right) -> KnowledgeSourceRow:
    """The source's row. Any signed-in user may read and refresh a source of the configuration; the caller checks
    everything else."""
    row = store.find(tx, source_id)
    if row is not None and row.project_id is None:
        return row
    return require_owned(tx, actor, KnowledgeSourceRow, knowledge_sources, "source", source_id, right)


def _model(services: Services) -> str:
    """The embedder's model; empty if none is configured."""
    return services.implementation(SEARCH).embedder or ""
