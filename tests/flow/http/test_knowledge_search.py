"""Search over HTTP, with a real embedder and a real re-ranker behind it, each over its wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from outlast.apps.knowledge.reranker import Reranker
from outlast.apps.knowledge.search import Knowledge
from outlast.base.clock import SystemClock
from outlast.db.database import Database
from outlast.kernel.models.api_key import ApiKey
from outlast.kernel.models.embedders import OpenAIEmbedder
from outlast.kernel.models.providers.connections import Connections
from outlast.kernel.models.settings import EmbeddingSettings
from outlast.testing.embeddings import MODEL, HashingEmbedder, embedding_server
from tests.asgi import Browser
from tests.factories import Team
from tests.flow.http.conftest import Site
from tests.store.apps.knowledge.test_search import TEXTS, embed_all, put_source


async def editor_of(site: Site) -> tuple[Team, Browser]:
    """A project with documentation of its own, and its editor."""
    team: Team = await site.services.db.write(Team)
    await site.services.db.write(put_source, project_id=team.project_id)
    return team, await site.signed_in(team.editor)


async def test_hits_come_with_heading_text_address_version_date_and_scores(site: Site):
    team, editor = await editor_of(site)
    answer = await editor.get(f"/v1/knowledge/search?q=create+an+issue&project_id={team.project_id}")
    assert answer.status == 200
    first = answer.json()["items"][0]
    assert (first["type"], first["heading"], first["text"], first["url"]) == ("doc", *TEXTS[0])
    assert (first["package"], first["version"]) == ("npm:tracker", "2.1.0")
    assert first["fetched_at"] == "2030-01-01T12:00:00.000Z"
    assert (first["score"], set(first["scores"])) == (1.0, {"words"})
    assert answer.json()["method"] == "words"
    assert "No embedder is configured" in answer.json()["note"]


async def test_packages_say_what_there_is_to_search_and_how(site: Site):
    team, editor = await editor_of(site)
    answer = await editor.get(f"/v1/knowledge/packages?project_id={team.project_id}")
    (package,) = answer.json()["items"]
    assert (package["package"], package["versions"], package["passages"]) == ("npm:tracker", ["2.1.0"], 4)
    assert (answer.json()["embedder"], answer.json()["reranker"]) == (None, False)


async def test_without_a_project_the_callers_own_is_searched(site: Site):
    team, editor = await editor_of(site)
    assert (await editor.get("/v1/knowledge/search?q=webhooks")).json()["items"] == []
    one = await editor.get(f"/v1/knowledge/search?q=webhooks&limit=1&project_id={team.project_id}")
    assert len(one.json()["items"]) == 1


async def test_a_query_of_spaces_and_a_limit_of_nothing_are_refused_by_name(site: Site):
    _, editor = await editor_of(site)
    for query, field in (("q=%20%20", "q"), ("q=a&limit=0", "limit"), ("q=a&limit=51", "limit"), ("", "q")):
        answer = await editor.get(f"/v1/knowledge/search?{query}")
        assert (answer.status, answer.code) == (400, "malformed_input")
        assert field in str(answer.json()["fields"])


@asynccontextmanager
async def rerank_server(answers: list[Any]) -> AsyncIterator[str]:
    """A service that judges by the number of the letter e, in the shapes that such services answer in; what it
    was asked is added to `answers`."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        answers.append((body, request.headers.get("authorization")))
        scores = [{"index": at, "relevance_score": text.count("e")} for at, text in enumerate(body["documents"])]
        return web.json_response({"results": sorted(scores, key=lambda one: -one["relevance_score"])})

    app = web.Application()
    app.router.add_post("/rerank", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/rerank"
    await runner.cleanup()


async def test_query_vectors_come_over_the_wire_and_a_reranker_orders_the_best(db: Database):
    team: Team = await db.write(Team)
    await db.write(put_source)
    await embed_all(db, HashingEmbedder())
    asked: list[Any] = []
    texts: list[Any] = []
    connections = Connections()
    try:
        async with embedding_server(requests=texts) as url, rerank_server(asked) as reranks:
            embedder = OpenAIEmbedder(
                connections, SystemClock(), EmbeddingSettings(url, MODEL, dimensions=512), ApiKey("")
            )
            reranker = Reranker(connections, reranks, "judge", "secret", 10)
            knowledge = Knowledge(db, SystemClock(), embedder=embedder, reranker=reranker)
            answer = await knowledge.search("how do I list issues?", project_id=team.project_id)
    finally:
        await connections.aclose()
    assert answer.method == "words+vectors+reranked"
    assert texts[0]["input"] == ["how do I list issues?"]
    ((body, authorization),) = asked
    assert (body["query"], body["model"], authorization) == ("how do I list issues?", "judge", "Bearer secret")
    told = [hit.text.count("e") + hit.heading.count("e") for hit in answer.items]
    assert told == sorted(told, reverse=True)
    assert None not in answer.items[0].scores.model_dump().values()
    assert all(0 <= hit.score <= 1 for hit in answer.items)


async def test_a_reranker_that_is_slow_gone_or_talks_nonsense_changes_nothing(db: Database):
    team: Team = await db.write(Team)
    await db.write(put_source)

    async def nonsense(request: web.Request) -> web.Response:
        return web.json_response({"results": [{"index": 99, "relevance_score": 1}]})

    app = web.Application()
    app.router.add_post("/rerank", nonsense)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    known = f"http://127.0.0.1:{runner.addresses[0][1]}"
    connections = Connections()
    try:
        for url, limit_s, reason in (
            (f"{known}/rerank", 10, "was not valid"),
            (f"{known}/nowhere", 10, "status 404"),
            ("http://127.0.0.1:9/rerank", 10, "could not be reached"),
            (f"{known}/rerank", 0, "did not answer within 0 seconds"),
        ):
            reranker = Reranker(connections, url, "", "", limit_s)
            knowledge = Knowledge(db, SystemClock(), reranker=reranker)
            answer = await knowledge.search("create an issue", project_id=team.project_id)
            assert answer.method == "words"
            assert answer.items[0].heading == "Issues › Create"
            assert reason in answer.note, url
    finally:
        await connections.aclose()
        await runner.cleanup()
