"""The web app's files go out compressed, to clients that say they can read it."""

import gzip
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from outlast.kernel.http.static_files import WebApp, accepted

SCRIPT = b"let answer = 42\n" * 100


@pytest.fixture
def client(tmp_path: Path) -> httpx.AsyncClient:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "app.js").write_bytes(SCRIPT)
    (tmp_path / "assets" / "app.js.br").write_bytes(b"brotli bytes")
    (tmp_path / "assets" / "app.js.gz").write_bytes(gzip.compress(SCRIPT))
    (tmp_path / "assets" / "photo.png").write_bytes(b"picture")
    (tmp_path / "index.html").write_bytes(b"<!doctype html>")
    app = Starlette(routes=[Route("/{path:path}", WebApp(tmp_path).answer, methods=["GET"])])
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")


@pytest.mark.parametrize(
    ("header", "encodings"),
    [
        ("gzip, deflate, br, zstd", ["br", "gzip"]),
        ("gzip", ["gzip"]),
        ("GZIP;q=0.5, br;q=0", ["gzip"]),
        ("br; q=0.000, gzip; q=0.001", ["gzip"]),
        ("*", ["br", "gzip"]),
        ("*, br;q=0", ["gzip"]),
        ("identity", []),
        ("", []),
        (";;,,q=0", []),
    ],
)
def test_an_encoding_is_used_where_the_client_names_it(header: str, encodings: list[str]) -> None:
    assert accepted(header) == encodings


async def test_a_script_goes_out_as_its_best_copy_under_its_own_type(client: httpx.AsyncClient) -> None:
    answer = await client.get("/assets/app.js", headers={"accept-encoding": "gzip"})
    assert answer.content == SCRIPT
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]


async def test_a_client_without_compression_gets_the_file_itself(client: httpx.AsyncClient) -> None:
    answer = await client.get("/assets/app.js", headers={"accept-encoding": "identity"})
    assert answer.content == SCRIPT
    assert "content-encoding" not in answer.headers
    assert answer.headers["vary"] == "accept-encoding"


async def test_each_copy_has_a_tag_of_its_own_and_is_not_sent_twice(client: httpx.AsyncClient) -> None:
    plain = await client.get("/assets/app.js", headers={"accept-encoding": "identity"})
    packed = await client.get("/assets/app.js", headers={"accept-encoding": "gzip"})
    assert plain.headers["etag"] != packed.headers["etag"]
    again = {"accept-encoding": "gzip", "if-none-match": f'"other", {packed.headers["etag"]}'}
    known = await client.get("/assets/app.js", headers=again)
    assert (known.status_code, known.content) == (304, b"")
    assert known.headers["etag"] == packed.headers["etag"]
    stale = {"accept-encoding": "gzip", "if-none-match": plain.headers["etag"]}
    assert (await client.get("/assets/app.js", headers=stale)).status_code == 200


async def test_what_has_no_copy_goes_out_as_it_is(client: httpx.AsyncClient) -> None:
    answer = await client.get("/assets/photo.png", headers={"accept-encoding": "br, gzip"})
    assert answer.content == b"picture"
    assert answer.headers["content-type"] == "image/png"
    assert "vary" not in answer.headers
