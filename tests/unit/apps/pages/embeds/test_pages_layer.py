"""What a page's host answers, without a database: the shell, the runtime's files, pages by link, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from outlast.apps.pages.embeds.hosts import PageHosts
from outlast.apps.pages.embeds.page_links import Embedded, PageLinks
from outlast.apps.pages.embeds.pages_layer import PagesLayer
from outlast.apps.pages.embeds.runtime_files import RuntimeFiles
from outlast.base.errors import NotFound
from outlast.kernel.http.event_stream import OpenStreams
from outlast.kernel.http.stream_limits import StreamPlaces
from outlast.kernel.streams.settings import StreamSettings

HOST = "pag-01.pages.preview.localhost:8400"
ORIGIN = f"http://{HOST}"
PAGE = Embedded("pag_01", "thr_1", 'A "page" </title>', '<h1 id="t">Hello</h1>', 3)


class Links(PageLinks):
    """One link, whose secret is `good`."""

    def __init__(self) -> None:
        pass

    async def open(self, page_id: str, secret: str) -> Embedded:
        if (page_id, secret) != ("pag_01", "good"):
            raise NotFound("no such link")
        return PAGE

    async def follow(self, page_id: str, secret: str, seen: str) -> AsyncGenerator[bytes]:
        await self.open(page_id, secret)

        async def frames() -> AsyncGenerator[bytes]:
            yield b"data: %b\n\n" % seen.encode()

        return frames()

    async def is_good(self, page_id: str, secret: str) -> bool:
        return True


class Answered:
    def __init__(self) -> None:
        self.status, self.body = 0, b""
        self.headers: dict[str, str] = {}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message.get("body", b"")


async def the_api(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the api"})


@pytest.fixture
def layer(tmp_path: Path) -> PagesLayer:
    (tmp_path / "page.js").write_text("run()")
    (tmp_path / "page.css").write_text("p{}")
    return PagesLayer(
        the_api,
        PageHosts("pages.preview.localhost"),
        Links(),
        OpenStreams(StreamSettings(heartbeat_s=15, slow_reader_s=30, recheck_s=60)),
        files=RuntimeFiles(tmp_path),
    )


async def ask(layer: PagesLayer, path: str, host: str = HOST, method: str = "GET", **more: Any) -> Answered:
    path, _, query = path.partition("?")
    headers = [(b"host", host.encode()), *((k.replace("_", "-").encode(), v.encode()) for k, v in more.items())]
    scope = {
        "type": "http",
        "scheme": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 1234),
        "extensions": {},
    }
    left = False

    async def receive() -> dict[str, Any]:
        nonlocal left
        left = True
        return {"type": "http.disconnect"}

    answered = Answered()
    await layer(scope, receive, answered.send)
    return answered


@pytest.mark.parametrize(
    "path", ["/v1/me", "/openapi.json", "/v1/pages/pag_01", "/index.html", "/assets/x.js", "/embed/good/x"]
)
@pytest.mark.parametrize("host", [HOST, "pages.preview.localhost:8400", "scr-1.pages.preview.localhost"])
async def test_the_api_is_never_reached_from_a_pages_host(layer: PagesLayer, path: str, host: str):
    answered = await ask(layer, path, host)
    assert answered.status == 404
    assert b"the api" not in answered.body


async def test_other_hosts_are_served_by_the_application(layer: PagesLayer):
    assert (await ask(layer, "/v1/me", "localhost:8400")).body == b"the api"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_nothing_is_sent_to_a_pages_host(layer: PagesLayer, method: str):
    assert (await ask(layer, "/", method=method)).status == 404


async def test_the_shell_holds_no_data_and_runs_its_own_script_alone(layer: PagesLayer):
    answered = await ask(layer, "/")
    assert answered.status == 200
    assert b"Hello" not in answered.body
    assert "set-cookie" not in answered.headers
    policy = answered.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert f"script-src {ORIGIN};" in policy
    assert "connect-src 'none'" in policy
    assert "form-action 'none'" in policy
    assert "sandbox allow-scripts allow-forms" in policy
    assert "allow-same-origin" not in policy
    assert "frame-ancestors http://localhost:8400 http://127.0.0.1:8400;" in policy
    assert b'data-parents="http://localhost:8400 http://127.0.0.1:8400"' in answered.body


async def test_the_runtimes_files_are_held_for_ever_under_the_version_that_the_shell_names(layer: PagesLayer):
    shell = (await ask(layer, "/")).body.decode()
    named = shell.split('src="')[1].split('"')[0]
    script = await ask(layer, named)
    assert (script.body, script.headers["content-type"]) == (b"run()", "text/javascript; charset=utf-8")
    assert "immutable" in script.headers["cache-control"]
    assert (await ask(layer, "/page.js?v=old")).headers["cache-control"] == "no-cache"
    assert (await ask(layer, "/page.css")).body == b"p{}"


async def test_a_page_by_link_may_be_framed_anywhere_and_holds_its_html(layer: PagesLayer):
    answered = await ask(layer, "/embed/good")
    assert b'<main data-outlast-page><h1 id="t">Hello</h1></main>' in answered.body
    assert b"<title>A &quot;page&quot; &lt;/title&gt;</title>" in answered.body
    assert f'data-version="{PAGE.mark}"'.encode() in answered.body
    policy = answered.headers["content-security-policy"]
    assert "frame-ancestors *;" in policy
    assert f"connect-src {ORIGIN};" in policy
    assert "allow-same-origin" not in policy
    assert "allow-forms" not in policy
    assert answered.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/embed/bad", "/embed/bad/events", "/embed/", "/embed//events"])
async def test_a_link_that_is_no_good_says_so(layer: PagesLayer, path: str):
    answered = await ask(layer, path, accept="text/html")
    assert answered.status == 404
    assert b"is no longer valid" in answered.body
    assert answered.headers["access-control-allow-origin"] == "*"  # so that the open page learns of it


async def test_a_link_shows_its_own_page_only(layer: PagesLayer):
    answered = await ask(layer, "/embed/good", "pag-02.pages.preview.localhost:8400")
    assert answered.status == 404


async def test_a_pages_changes_follow_from_what_the_reader_has(layer: PagesLayer):
    answered = await ask(layer, f"/embed/good/events?after={PAGE.mark}")
    assert answered.headers["content-type"].startswith("text/event-stream")
    assert answered.headers["access-control-allow-origin"] == "*"


async def test_without_the_built_files_it_is_said_what_to_do(tmp_path: Path):
    layer = PagesLayer(
        the_api,
        PageHosts("pages.preview.localhost"),
        Links(),
        OpenStreams(StreamSettings(heartbeat_s=15, slow_reader_s=30, recheck_s=60)),
        files=RuntimeFiles(tmp_path / "none"),
    )
    answered = await ask(layer, "/")
    assert answered.status == 503
    assert b"make setup" in answered.body


async def test_one_address_follows_so_many_pages_at_once_and_others_are_let_in(layer: PagesLayer):
    layer.streams.places = StreamPlaces(1)
    with layer.streams.places.taken("192.0.2.7", "address"):
        refused = await ask(layer, "/embed/good/events", x_forwarded_for="192.0.2.7")
        assert refused.status == 429
        assert refused.headers["access-control-allow-origin"] == "*"
        assert b"limits.streams_per_user" in refused.body
        assert (await ask(layer, "/embed/good/events", x_forwarded_for="192.0.2.8")).status == 200
    assert (await ask(layer, "/embed/good/events", x_forwarded_for="192.0.2.7")).status == 200
