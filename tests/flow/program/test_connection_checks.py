"""`outlast doctor --connections` of a server whose agents search the web, with each kind of service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web
from anyio.from_thread import start_blocking_portal

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG
from tests.flow.program.test_cli import outlast
from tests.search_services import KEY, SearchServices, search_services

NOT_TRIED = "Web search: not yet tried against the real service"


@pytest.fixture
def services() -> Iterator[SearchServices]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(search_services()) as one:
        yield one


def test_each_search_service_is_tried_with_one_search_and_the_doctor_remembers_that_it_passed(
    tmp_path: Path, services: SearchServices
) -> None:
    config = tmp_path / "outlast.toml"

    def doctor(*more: str) -> tuple[int, str]:
        keys = {"BRAVE_API_KEY": KEY, "TAVILY_API_KEY": KEY}
        told = outlast("doctor", *more, "--config", str(config), **keys)
        return told.returncode, " ".join(told.stdout.split())

    def choose(kind: str) -> None:
        searches = f'[web]\nsearch = "{kind}"\nurl = "{services.base}/{kind}"\n'
        config.write_text(CONFIG.format(folder=tmp_path / "data") + searches)

    choose("searxng")
    assert NOT_TRIED in doctor()[1], "before the first start"
    made = outlast("tokens", "create", "--config", str(config))
    assert made.returncode == Exit.OK, made.stderr
    for times, kind in enumerate(["searxng", "brave", "tavily"], 1):
        choose(kind)
        code, said = doctor("--connections")
        assert (code, len(services.asked)) == (Exit.OK, times), said
        assert "Web search: works: for “weather” it found https://outlast.example/" in said
    assert "Web search: worked at 2" in doctor()[1]
    choose("brave")
    assert NOT_TRIED in doctor()[1], "another service passed last"
    choose("tavily")

    services.answer = lambda: web.Response(status=503)
    code, said = doctor("--connections")
    assert (code, "Web search: Tavily has a fault (503)" in said) == (Exit.FAILED, True), said
    services.answer, services.found = None, []
    code, said = doctor("--connections")
    assert (code, "It found nothing" in said) == (Exit.FAILED, True), said
    assert "Web search: worked at 2" in doctor()[1]


def test_without_a_search_service_there_is_nothing_to_try(tmp_path: Path) -> None:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    assert "Web search" not in outlast("doctor", "--config", str(config)).stdout
    assert outlast("tokens", "create", "--config", str(config)).returncode == Exit.OK
    told = outlast("doctor", "--connections", "--config", str(config))
    assert (told.returncode, "no service is configured" in told.stdout) == (Exit.OK, True)
