"""The server answers about its health before its API is loaded, and loads that once."""

from __future__ import annotations

import anyio
import pytest
from starlette.types import ASGIApp

from outlast.kernel.http.allowed_hosts import known_hosts
from outlast.kernel.http.surface import Surface
from outlast.surfaces.http import application
from outlast.surfaces.http.application import ApiLoader, create_http
from tests.asgi import Browser
from tests.flow.http.conftest import Site, surface_over


@pytest.fixture
def surface(site: Site) -> Surface:
    return surface_over(site.services, None)


def browser_of(api: ApiLoader, surface: Surface) -> Browser:
    return Browser(create_http(surface, known_hosts("127.0.0.1", "", ()), None, api))


async def test_health_is_answered_without_loading_the_api(surface: Surface, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "_load", lambda _: pytest.fail("loaded"))
    browser = browser_of(ApiLoader(surface), surface)
    alive, ready = await browser.get("/healthz"), await browser.get("/readyz?verbose")
    assert (alive.status, alive.json()) == (200, {"status": "ok"})
    assert ready.json()["database"] == "ok"
    assert "services" in ready.json()


async def test_the_answers_about_health_stay_the_same_once_it_is_loaded(surface: Surface) -> None:
    api = ApiLoader(surface)
    browser, paths = browser_of(api, surface), ("/healthz", "/readyz", "/readyz?verbose=1", "/readyz?verbose=0")
    before = [await browser.get(path) for path in paths]
    await api.load()
    after = [await browser.get(path) for path in paths]
    assert [(one.status, one.json()) for one in after] == [(one.status, one.json()) for one in before]


async def test_requests_of_the_first_moment_wait_for_one_loading(
    surface: Surface, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = 0
    load = application._load

    def counted(given: Surface) -> ASGIApp:
        nonlocal loads
        loads += 1
        return load(given)

    monkeypatch.setattr(application, "_load", counted)
    browser, codes = browser_of(ApiLoader(surface), surface), []

    async def ask() -> None:
        codes.append((await browser.get("/v1/projects")).code)

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(ask)
    assert (loads, codes) == (1, ["not_signed_in"] * 5)
