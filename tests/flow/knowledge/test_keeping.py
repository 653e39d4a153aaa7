"""Sources are read over a real wire, kept on both databases, asked for again when due, and survive being offline."""

from __future__ import annotations

import io
import tarfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import orjson

from outlast.apps.knowledge import source_store, store
from outlast.apps.knowledge.memories.store import insert as insert_memory
from outlast.apps.knowledge.passage_changes import Contents
from outlast.apps.knowledge.readers.own_docs import own_docs
from outlast.apps.knowledge.readers.packages import PackageReader, Registries
from outlast.apps.knowledge.readers.reader import SourceReader
from outlast.apps.knowledge.rows import KnowledgePassageRow
from outlast.apps.knowledge.settings import KnowledgeSettings
from outlast.apps.knowledge.source_documents import Reading
from outlast.apps.knowledge.source_keeper import LEASE, SourceKeeper
from outlast.apps.knowledge.sources import configured_sources
from outlast.apps.knowledge.tables import knowledge_sources, vectors
from outlast.apps.knowledge.vector_keeper import (
    VectorKeeper,
    memories_without_vector,
    remove_unused_vectors,
    save_vectors,
)
from outlast.base.errors import ModelUnreachable
from outlast.db.database import Database, Tx
from outlast.kernel.library.modules import text_hash
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.web.http_fetch import Fetcher
from outlast.testing.clock import ManualClock
from outlast.testing.embeddings import HashingEmbedder
from tests.factories import Team
from tests.web_site import Site, web_site

GUIDE = "# Tracker\n\nTalks to it.\n\n## Create\n\nCall `create`.\n\n## List\n\nCall `list`.\n"


@asynccontextmanager
async def keeping(
    db: Database, site: Site | None, *docs: str, clock: ManualClock | None = None, **more: Any
) -> AsyncIterator[SourceKeeper]:
    """A keeper of these configured sources, which may be read from the site."""
    private = (f"127.0.0.1:{site.port}",) if site is not None else ()
    asked = KnowledgeSettings(allow_private=private, **more.pop("knowledge", {}))
    dependency = DependencySettings(name="tracker", package=more.pop("package", ""), docs=docs)
    sandbox = SandboxSettings(dependencies=(dependency,) if docs else ())
    clock = clock or ManualClock()
    fetcher = Fetcher(5.0, clock)
    registries = more.pop("registries", Registries({}, ()))
    packages = PackageReader(fetcher, more.pop("installed", None), lambda: registries, asked.source_bytes)
    reader = SourceReader(
        fetcher, packages, asked.source_bytes, asked.pages_per_source, more.pop("own", Path("/nowhere"))
    )
    configured = [*configured_sources(sandbox, asked), *more.pop("configured", ())]
    try:
        yield SourceKeeper(db, clock, asked, reader, configured, **more)
    finally:
        await fetcher.aclose()


async def sources(db: Database) -> list[Any]:
    return await db.read(lambda tx: [store.source_data(tx, row, "") for row in store.list_sources(tx, "")])


async def passages(db: Database) -> list[KnowledgePassageRow]:
    def run(tx: Any) -> list[KnowledgePassageRow]:
        return [one for row in store.list_sources(tx, "") for one in store.passages_of(tx, row.id)]

    return await db.read(run)


async def read_again(db: Database, keeper: SourceKeeper) -> None:
    await db.write(source_store.want_now, [one.id for one in await sources(db)])
    await keeper.read_due()


async def test_a_configured_document_is_fetched_cut_and_stored(db: Database) -> None:
    async with web_site({"/sdk.md": GUIDE}) as site, keeping(db, site, f"{site.base}/sdk.md") as keeper:
        await keeper.synchronise()
        assert [one.state for one in await sources(db)] == ["waiting"]
        assert await keeper.read_due() == 1
        (source,) = await sources(db)
        assert (source.state, source.package, source.kind, source.passages) == ("ready", "tracker", "markdown", 3)
        assert source.fetched_at is not None
        assert [one.heading for one in await passages(db)] == ["Tracker", "Tracker › Create", "Tracker › List"]
        assert {agent.partition("/")[0] for agent in site.agents} == {"Outlast"}


async def test_our_own_documentation_is_searched_without_network_and_read_again_when_it_is_built_anew(
    db: Database, tmp_path: Path
) -> None:
    (tmp_path / "guides").mkdir()
    (tmp_path / "guides" / "deploy.md").write_text("# Deploy\n\nBehind a proxy.\n")
    (tmp_path / "README.md").write_text("# Documentation\n\nBegin here.\n")
    (tmp_path / ".sources").write_text("first build")
    async with keeping(db, None, own=tmp_path, configured=own_docs(tmp_path)) as keeper:
        await keeper.synchronise()
        await keeper.read_due()
        (source,) = await sources(db)
        assert (source.package, source.state, source.project_id) == ("outlast", "ready", None)
        assert {one.url for one in await passages(db)} == {"/docs/", "/docs/guides/deploy/"}
        (tmp_path / "README.md").write_text("# Documentation\n\nChanged without a build.\n")
        await read_again(db, keeper)
        assert "Begin here." in {one.body for one in await passages(db)}
        (tmp_path / ".sources").write_text("second build")
        await read_again(db, keeper)
        assert "Changed without a build." in {one.body for one in await passages(db)}


def test_a_server_whose_documentation_is_not_built_has_no_such_source(tmp_path: Path) -> None:
    assert own_docs(tmp_path) == []


async def test_what_has_not_changed_is_not_sent_again(db: Database) -> None:
    async with web_site({"/sdk.md": GUIDE}) as site, keeping(db, site, f"{site.base}/sdk.md") as keeper:
        await keeper.synchronise()
        await keeper.read_due()
        before = await passages(db)
        await read_again(db, keeper)
        assert site.statuses == [200, 304]
        assert await passages(db) == before
        assert (await db.read(store.sources_of_project, "prj_x"))[0].revision == 1


async def test_a_change_keeps_the_ids_of_the_passages_that_stay(db: Database) -> None:
    async with web_site({"/sdk.md": GUIDE}) as site, keeping(db, site, f"{site.base}/sdk.md") as keeper:
        await keeper.synchronise()
        await keeper.read_due()
        before = {one.heading: one.id for one in await passages(db)}
        site.pages["/sdk.md"] = GUIDE.replace("Call `list`.", "Call `all`.").replace(
            "## Create", "## Before\n\nNew.\n\n## Create"
        )
        await read_again(db, keeper)
        after = {one.heading: one.id for one in await passages(db)}
        assert list(after) == ["Tracker", "Tracker › Before", "Tracker › Create", "Tracker › List"]
        assert after["Tracker"] == before["Tracker"]
        assert after["Tracker › Create"] == before["Tracker › Create"]
        assert after["Tracker › List"] not in before.values()


async def test_a_source_that_cannot_be_read_keeps_what_it_holds_and_says_why(db: Database) -> None:
    async with web_site({"/sdk.md": GUIDE}) as site, keeping(db, site, f"{site.base}/sdk.md") as keeper:
        await keeper.synchronise()
        await keeper.read_due()
        site.pages["/sdk.md"] = 500
        await read_again(db, keeper)
        (source,) = await sources(db)
        assert (source.state, source.passages) == ("failed", 3)
        assert "answered 500" in (source.error or "")
        assert len(await passages(db)) == 3
        site.pages["/sdk.md"] = GUIDE
        await read_again(db, keeper)
        (source,) = await sources(db)
        assert (source.state, source.error) == ("ready", None)


async def test_a_private_address_is_refused_unless_it_is_allowed(db: Database) -> None:
    async with web_site({"/sdk.md": GUIDE, "/away.md": 302}) as site:
        site.headers["/away.md"] = {"Location": "http://localhost:1/secret"}
        name = f"http://localhost:{site.port}/sdk.md"
        async with keeping(db, site, f"{site.base}/away.md", name) as keeper:
            await keeper.synchronise()
            await keeper.read_due()
            for source in await sources(db):
                # The name leads to an allowed address, the other one's redirect to one that is not.
                if source.location == name:
                    assert source.state == "ready"
                else:
                    assert source.state == "failed"
                    assert "private address" in (source.error or "")
        async with keeping(db, None, f"{site.base}/sdk.md") as keeper:
            site.forget()
            await keeper.synchronise()
            await keeper.read_due()
            assert site.asked == []


async def test_a_source_taken_out_of_the_configuration_is_gone_at_the_next_start(db: Database) -> None:
    async with web_site({"/a.md": GUIDE, "/b.md": "# B\n\ntext"}) as site:
        async with keeping(db, site, f"{site.base}/a.md", f"{site.base}/b.md") as keeper:
            await keeper.synchronise()
            await keeper.read_due()
        async with keeping(db, site, f"{site.base}/b.md") as keeper:
            await keeper.synchronise()
        assert [one.location for one in await sources(db)] == [f"{site.base}/b.md"]
        assert [one.heading for one in await passages(db)] == ["B"]


async def test_a_list_of_documents_is_followed_and_unchanged_ones_are_kept(db: Database) -> None:
    site_pages: dict[str, Any] = {
        "/llms.txt": "# Tracker\n\n> Issues.\n\n- [Guide](/guide.md): how\n- [Gone](/gone.md)\n- [API](api.md)\n",
        "/guide.md": GUIDE,
        "/api.md": "# API\n\nAll calls.\n",
    }
    async with web_site(site_pages) as site, keeping(db, site, f"{site.base}/llms.txt") as keeper:
        await keeper.synchronise()
        await keeper.read_due()
        (source,) = await sources(db)
        assert (source.kind, source.state) == ("llms_txt", "ready")
        assert "1 of 3 documents could not be read" in (source.error or "")
        assert "Tracker › Create" in {one.heading for one in await passages(db)}
        before = {one.url: one.id for one in await passages(db)}
        site.forget()
        site.pages["/api.md"] = "# API\n\nEvery call.\n"
        site.pages["/guide.md"] = 503
        await read_again(db, keeper)
        after = {one.url: one.id for one in await passages(db)}
        assert after[f"{site.base}/guide.md#create"] == before[f"{site.base}/guide.md#create"]
        assert after[f"{site.base}/api.md"] != before[f"{site.base}/api.md"]


async def test_a_sitemap_is_read_page_by_page_as_robots_allow(db: Database) -> None:
    page = "<html><body><main><h1>{0}</h1><h2 id='use'>Use</h2><p>Of {0}, as it is told here.</p></main></body></html>"
    pages: dict[str, Any] = {
        "/sitemap.xml": "<sitemapindex><sitemap><loc>{base}/docs.xml</loc></sitemap></sitemapindex>",
        "/docs.xml": "<urlset>"
        + "".join(f"<url><loc>{{base}}{path}</loc></url>" for path in ("/docs/a", "/docs/b", "/docs/secret", "/blog"))
        + "<url><loc>https://elsewhere.example/docs/x</loc></url></urlset>",
        "/docs/a": page.format("A"),
        "/docs/b": page.format("B"),
        "/blog": page.format("Blog"),
        "/robots.txt": "User-agent: *\nDisallow: /docs/secret\n",
    }
    async with web_site(pages) as site, keeping(db, site, f"{site.base}/sitemap.xml#/docs/") as keeper:
        await keeper.synchronise()
        await keeper.read_due()
        found = await passages(db)
        assert [(one.heading, one.url) for one in found] == [
            ("A › Use", f"{site.base}/docs/a#use"),
            ("B › Use", f"{site.base}/docs/b#use"),
        ]
        assert "/docs/secret" not in site.asked
        assert "/blog" not in site.asked


async def test_one_host_is_asked_for_two_documents_at_a_time(db: Database) -> None:
    links = "".join(f"- [{n}](/{n}.md)\n" for n in range(30))
    pages: dict[str, Any] = {"/llms.txt": links} | {f"/{n}.md": f"# {n}\n\ntext" for n in range(30)}
    async with web_site(pages) as site, keeping(db, site, f"{site.base}/llms.txt") as keeper:
        await keeper.synchronise()
        await keeper.read_due()
        assert len(site.asked) == 31
        assert site.most_at_once <= 2


async def test_a_document_that_is_too_large_is_refused(db: Database) -> None:
    async with (
        web_site({"/sdk.md": "x" * 5000}) as site,
        keeping(db, site, f"{site.base}/sdk.md", knowledge={"source_bytes": 2000}) as keeper,
    ):
        await keeper.synchronise()
        await keeper.read_due()
        (source,) = await sources(db)
        assert "larger than 2,000 bytes" in (source.error or "")


async def test_files_and_folders_of_this_machine_are_read(db: Database, tmp_path: Path) -> None:
    (tmp_path / "docs/deep").mkdir(parents=True)
    (tmp_path / "docs/guide.md").write_text(GUIDE)
    (tmp_path / "docs/deep/using-it.md").write_text("Without a heading.")
    (tmp_path / "docs/secret").symlink_to("/etc/passwd")
    (tmp_path / "docs/picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "one.md").write_text("# One\n\ntext\n")
    async with keeping(db, None, str(tmp_path / "docs"), str(tmp_path / "one.md"), "/nowhere/x.md") as keeper:
        await keeper.synchronise()
        await keeper.read_due()
        assert {(one.heading, one.url) for one in await passages(db)} == {
            ("Tracker", "guide.md"),
            ("Tracker › Create", "guide.md#create"),
            ("Tracker › List", "guide.md#list"),
            ("using it", "deep/using-it.md"),
            ("One", "one.md"),
        }
        states = {one.location: one.state for one in await sources(db)}
        assert states["/nowhere/x.md"] == "failed"


def archive(files: dict[str, str]) -> bytes:
    """As repositories give it: everything in one folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"tracker-main/{path}")
            entry.size = len(text.encode())
            packed.addfile(entry, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("tracker-main/docs/link.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    return buffer.getvalue()


async def test_a_repository_is_read_from_its_archive(db: Database) -> None:
    files = {
        "README.md": "# Read me\n\nFirst.\n",
        "docs/guide.md": GUIDE,
        "docs/deep/more.mdx": "More of it.\n",
        "src/notes.md": "# Not documentation\n\ntext\n",
        "../../evil.md": "# Evil\n\ntext\n",
    }
    async with web_site({"/acme/tracker/archive/main.tar.gz": archive(files)}) as site:
        places = [f"{site.base}/acme/tracker/src/branch/main/", f"{site.base}/acme/tracker/src/branch/main/docs/deep"]
        async with keeping(db, site, *places) as keeper:
            await keeper.synchronise()
            await keeper.read_due()
            await read_again(db, keeper)
            shown = f"{site.base}/acme/tracker/src/branch/main/"
            found = {
                source.location: {
                    one.url.removeprefix(shown) for one in await passages(db) if one.source_id == source.id
                }
                for source in await sources(db)
            }
            assert found[places[0]] == {
                "README.md",
                "docs/guide.md",
                "docs/guide.md#create",
                "docs/guide.md#list",
                "docs/deep/more.mdx",
            }
            assert found[places[1]] == {"docs/deep/more.mdx"}
            assert site.statuses == [200, 200, 304, 304]


async def test_other_rules_of_cutting_cut_everything_anew(db: Database) -> None:
    long = "# A\n\n" + "\n\n".join(f"Paragraph {n}. " + "word " * 30 for n in range(10))
    async with web_site({"/sdk.md": long}) as site:
        async with keeping(db, site, f"{site.base}/sdk.md") as keeper:
            await keeper.synchronise()
            await keeper.read_due()
            few = len(await passages(db))
        async with keeping(db, site, f"{site.base}/sdk.md", knowledge={"passage_chars": 400}) as keeper:
            await keeper.synchronise()
            await keeper.read_due()
            assert len(await passages(db)) > few


async def until(db: Database, holds: Callable[[], Awaitable[bool]]) -> None:
    """Return once it holds; looked at whenever the bell of knowledge rings."""
    rung = anyio.Event()

    def hear(_stream_id: str) -> None:
        rung.set()

    db.on_notice(hear)
    with anyio.fail_after(30):
        while not await holds():
            await rung.wait()
            rung = anyio.Event()


async def test_a_keeper_sleeps_until_a_source_is_due_or_wanted(db: Database) -> None:
    async with (
        web_site({"/sdk.md": GUIDE}) as site,
        keeping(db, site, f"{site.base}/sdk.md") as keeper,
        anyio.create_task_group() as tasks,
    ):

        async def is_read(times: int) -> bool:
            return len(site.statuses) == times and [one.state for one in await sources(db)] == ["ready"]

        tasks.start_soon(db.background)
        tasks.start_soon(keeper.run)
        await until(db, lambda: is_read(1))
        await db.write(source_store.want_now, [one.id for one in await sources(db)])
        await until(db, lambda: is_read(2))
        assert site.statuses == [200, 304]
        tasks.cancel_scope.cancel()


async def test_a_project_hears_of_its_own_sources_and_followed_ones_of_everybodys(db: Database) -> None:
    team = await db.write(Team)
    async with (
        web_site({"/own.md": GUIDE, "/all.md": GUIDE}) as site,
        keeping(db, site, f"{site.base}/all.md", followed=lambda: [team.project_id, "prj_gone"]) as keeper,
    ):
        new = source_store.NewSource("tracker", "markdown", f"{site.base}/own.md", team.project_id)
        await db.write(lambda tx: source_store.add(tx, new, tx.now))
        await keeper.synchronise()
        await keeper.read_due()
    lines = [orjson.loads(line) for _, line in await db.read(read_all, team.project_id)]
    told = [
        (one["data"]["source"]["location"].rpartition("/")[2], one["data"]["source"]["state"])
        for one in lines
        if one["event"] == "knowledge.updated"
    ]
    assert sorted(told) == [("all.md", "fetching"), ("all.md", "ready"), ("own.md", "fetching"), ("own.md", "ready")]


async def test_a_source_that_a_person_names_never_reads_a_file_of_the_server(db: Database, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\ntext")
    team = await db.write(Team)
    async with keeping(db, None) as keeper:
        new = source_store.NewSource("x", "markdown", str(tmp_path / "secret.md"), team.project_id)
        source_id = await db.write(lambda tx: source_store.add(tx, new, tx.now))
        await keeper.read_due()
        row = await db.read(store.find, source_id)
        assert row is not None
        assert (row.state, row.passages) == ("failed", 0)


async def test_everything_without_a_vector_gets_one_and_nothing_is_sent_twice(db: Database) -> None:
    embedder = HashingEmbedder()
    vectors = VectorKeeper(db, ManualClock(), embedder)
    async with web_site({"/sdk.md": GUIDE}) as site, keeping(db, site, f"{site.base}/sdk.md") as keeper:
        await keeper.synchronise()
        await keeper.read_due()
        assert await vectors.embed_missing() == 3
        assert await vectors.embed_missing() == 0
        site.pages["/sdk.md"] = GUIDE.replace("Call `list`.", "Call `all`.")
        await read_again(db, keeper)
        assert await vectors.embed_missing() == 1
        hashes = [one.hash for one in await passages(db)]
        found = await db.read(store.vectors_of, embedder.model, hashes)
        assert set(found) == set(hashes)
        assert {len(vector) for vector in found.values()} == {embedder.dimensions * 2}


async def test_two_servers_on_one_database_read_each_source_once(db: Database) -> None:
    pages: dict[str, Any] = {f"/{n}.md": f"# {n}\n\ntext" for n in range(8)}
    async with web_site(pages) as site:
        places = [f"{site.base}/{n}.md" for n in range(8)]
        async with keeping(db, site, *places) as one, keeping(db, site, *places) as other:
            await one.synchronise()
            await other.synchronise()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(one.read_due)
                tasks.start_soon(other.read_due)
        assert sorted(site.asked) == sorted(pages)
        assert {one.state for one in await sources(db)} == {"ready"}


async def test_what_a_killed_server_was_reading_is_read_by_the_next(db: Database) -> None:
    clock = ManualClock()
    async with web_site({"/sdk.md": GUIDE}) as site, keeping(db, site, f"{site.base}/sdk.md") as keeper:
        await keeper.synchronise()
        lease = clock.now() + LEASE
        assert await db.write(source_store.claim, lease) is not None  # and then it was killed
        assert await keeper.read_due() == 0
        if db.dialect == "sqlite":
            await keeper.synchronise()  # as the next server does: nobody else can be reading
        else:
            await db.write(lambda tx: tx.update(knowledge_sources, {"state": "fetching"}, due_at=tx.now))
        await keeper.read_due()
        assert [one.state for one in await sources(db)] == ["ready"]


async def test_a_removed_source_that_is_being_read_stays_removed(db: Database) -> None:
    async with web_site({"/sdk.md": GUIDE}) as site, keeping(db, site, f"{site.base}/sdk.md") as keeper:
        await keeper.synchronise()
        (source,) = await sources(db)
        contents = Contents(Reading(documents=[]), {}, "")
        await db.write(source_store.remove, source.id)
        await db.write(source_store.fill, source.id, contents, None)
        assert await keeper.read_due() == 0
        assert await sources(db) == []


async def test_a_failing_embedder_is_left_alone_and_words_that_come_later_are_embedded(db: Database) -> None:
    team = await db.write(Team)
    clock, embedder = ManualClock(), HashingEmbedder()
    vectors = VectorKeeper(db, clock, embedder)
    embedder.error = ModelUnreachable("nobody there")

    def remember(tx: Tx, run_id: str) -> None:
        insert_memory(tx, team.project_id, "run", f"summary {run_id}", thread_id=team.thread_id, run_id=run_id)

    await db.write(remember, "run_1")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(db.background)
        tasks.start_soon(vectors.run)
        with anyio.fail_after(30):
            await clock.wait_sleepers()
        assert await missing(db, embedder) == 1
        embedder.error = None
        clock.advance(5)
        await until_embedded(db, embedder)
        await db.write(remember, "run_2")  # rings by itself
        await until_embedded(db, embedder)
        tasks.cancel_scope.cancel()


async def missing(db: Database, embedder: HashingEmbedder) -> int:
    return len(await db.read(memories_without_vector, embedder.model, 10))


async def until_embedded(db: Database, embedder: HashingEmbedder) -> None:
    async def holds() -> bool:
        return await missing(db, embedder) == 0

    await until(db, holds)


async def test_vectors_that_no_text_uses_are_removed_after_a_day(db: Database) -> None:
    team = await db.write(Team)

    def prepare(tx: Tx) -> None:
        insert_memory(tx, team.project_id, "project", "kept")
        kept = text_hash("kept")
        save_vectors(tx, "m", {kept: b"\0\0", "0" * 64: b"\0\0", "1" * 64: b"\0\0"})
        tx.update(vectors, {"hash": "0" * 64}, created_at=tx.now - timedelta(days=2))
        tx.update(vectors, {"hash": kept}, created_at=tx.now - timedelta(days=2))

    await db.write(prepare)
    assert await db.write(remove_unused_vectors) == 1


class Slowly:
    """Knows no package until `installed` is set; the first question waits for `go`."""

    def __init__(self) -> None:
        self.installed = False
        self.asked, self.go = anyio.Event(), anyio.Event()

    async def version(self, package: str) -> str:
        return "2.0.0" if self.installed else ""

    async def files(self, package: str, choose: Any, most_bytes: int) -> tuple[str, dict[str, bytes]] | None:
        if self.installed:
            return "2.0.0", {"README.md": b"# New\n\ntext"}
        self.asked.set()
        await self.go.wait()
        return "1.0.0", {"README.md": b"# Old\n\ntext"}


async def test_a_package_installed_while_it_was_being_read_is_read_again(db: Database) -> None:
    slowly = Slowly()
    async with (
        keeping(db, None, "package", package="npm:tracker", installed=slowly) as keeper,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(db.background)
        tasks.start_soon(keeper.run)
        with anyio.fail_after(30):
            await slowly.asked.wait()
        slowly.installed = True
        keeper.packages_changed()
        await anyio.wait_all_tasks_blocked()
        slowly.go.set()

        async def is_new() -> bool:
            return [(one.state, one.version) for one in await sources(db)] == [("ready", "2.0.0")]

        await until(db, is_new)
        assert [one.heading for one in await passages(db)] == ["New"]
        tasks.cancel_scope.cancel()
