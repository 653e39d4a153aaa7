"""The documentation's site as the server answers with it."""

import gzip
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from outlast.kernel.http.docs_site import DocsSite, docs_page
from outlast.surfaces.http.api import create_api

BROWSER = {"accept": "text/html,*/*"}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "guides" / "deploy").mkdir(parents=True)
    (tmp_path / "assets").mkdir()
    for name, text in {
        "index.html": "<h1>Start</h1>",
        "404.html": "<h1>Missing</h1>",
        "guides/deploy/index.html": "<h1>Deploy</h1>",
        "guides/deploy.md": "# Deploy",
        "assets/main.0a1b.min.css": "p {}",
        "assets/plain.css": "p {}",
        "llms.txt": "# Outlast",
        ".sources": "secret",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "llms.txt.gz").write_bytes(gzip.compress(b"# Outlast"))
    return tmp_path


@pytest.fixture
def client(site: Path) -> httpx.AsyncClient:
    api = create_api(docs=DocsSite(site))
    return httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://test")


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("/docs/", "text/html", "<h1>Start</h1>"),
        ("/docs/guides/deploy/", "text/html", "<h1>Deploy</h1>"),
        ("/docs/guides/deploy.md", "text/markdown", "# Deploy"),
        ("/llms.txt", "text/plain", "# Outlast"),
        ("/docs/llms.txt", "text/plain", "# Outlast"),
    ],
)
async def test_pages_are_served_to_anybody_and_asked_for_again(
    client: httpx.AsyncClient, path: str, kind: str, text: str
) -> None:
    answer = await client.get(path)
    assert (answer.status_code, answer.text) == (200, text)
    assert answer.headers["content-type"].startswith(kind)
    assert answer.headers["cache-control"] == "no-cache"
    again = await client.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(("path", "to"), [("/docs", "/docs/"), ("/docs/guides/deploy", "/docs/guides/deploy/")])
async def test_a_folder_without_its_slash_leads_to_the_page(client: httpx.AsyncClient, path: str, to: str) -> None:
    answer = await client.get(path)
    assert (answer.status_code, answer.headers["location"]) == (308, to)


async def test_files_with_a_hash_in_their_name_are_kept_for_ever(client: httpx.AsyncClient) -> None:
    assert "immutable" in (await client.get("/docs/assets/main.0a1b.min.css")).headers["cache-control"]
    assert (await client.get("/docs/assets/plain.css")).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/docs/nothing", "/docs/.sources", "/docs/%2e%2e/%2e%2e/etc/passwd", "/docs/guides"])
async def test_what_is_no_page_is_missing_in_a_browser_and_for_programs(client: httpx.AsyncClient, path: str) -> None:
    page = await client.get(path, headers=BROWSER)
    assert (page.status_code, page.text) == (404, "<h1>Missing</h1>")
    problem = await client.get(path)
    assert (problem.status_code, problem.json()["hint"]) == (404, "/llms.txt lists all pages.")


async def test_without_a_built_site_the_answer_says_how_to_build_it(tmp_path: Path) -> None:
    transport = httpx.ASGITransport(create_api(docs=DocsSite(tmp_path)))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/docs/", headers=BROWSER)
    assert answer.status_code == 404
    assert "make setup" in answer.json()["hint"]


@pytest.mark.parametrize(
    ("page", "address"),
    [("guides/deploy", "/docs/guides/deploy/"), ("faq#backups", "/docs/faq/#backups"), ("", "/docs/")],
)
def test_pages_are_named_in_hints_by_their_address(page: str, address: str) -> None:
    assert docs_page(page) == address


def test_the_site_answers_for_its_own_paths_only(site: Path) -> None:
    has: Callable[[str], bool] = DocsSite(site).has
    assert [path for path in ("docs", "docs/x", "llms.txt", "llms-full.txt") if not has(path)] == []
    assert [path for path in ("documents", "docs2", "v1/docs", "") if has(path)] == []
