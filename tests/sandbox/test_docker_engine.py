"""How the engine is asked, by exchanges that a real one had with us."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import web

from outlast_sandbox.providers.docker import engine as module
from outlast_sandbox.providers.docker.engine import Engine, EngineRefused

pytestmark = pytest.mark.sandbox
# Podman 4.3.1, asked to remove a container whose first process ended at the same moment.
ENDING = "cannot remove container 02454db11bab as it could not be stopped: container state improper: stopped"
Answering = Callable[..., tuple[Engine, list[str]]]


@pytest.fixture
async def answering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Answering]:
    """Makes an engine that gives these answers, one after the other, the last one again and again; and a list of what
    it was asked."""
    monkeypatch.setattr(module, "REMOVE_AGAIN_S", (0.0, 0.0))
    asked: list[str] = []
    answers: list[tuple[int, str]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(f"{request.method} {request.path.removeprefix(module.API)}")
        status, message = answers.pop(0) if len(answers) > 1 else answers[0]
        return web.json_response({"message": message}, status=status) if message else web.Response(status=status)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with AsyncExitStack() as stack:
        runner = web.AppRunner(app)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.UnixSite(runner, str(tmp_path / "engine.sock")).start()

        def make(*given: tuple[int, str]) -> tuple[Engine, list[str]]:
            answers[:] = given
            return Engine(tmp_path / "engine.sock"), asked

        yield make


async def test_a_container_that_ends_while_it_is_removed_is_removed_at_the_next_try(answering: Answering) -> None:
    engine, asked = answering((500, ENDING), (204, ""))
    await engine.remove("box")
    assert asked == ["DELETE /containers/box"] * 2


async def test_an_engine_that_goes_on_failing_is_not_asked_for_ever(answering: Answering) -> None:
    engine, asked = answering((500, ENDING))
    with pytest.raises(EngineRefused, match="state improper"):
        await engine.remove("box")
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("status", "then"),
    [(404, []), (409, ["POST /containers/box/wait"])],
    ids=["gone already", "somebody else removes it"],
)
async def test_what_is_gone_or_going_is_no_error(answering: Answering, status: int, then: list[str]) -> None:
    engine, asked = answering((status, "no"), (200, ""))
    await engine.remove("box")
    assert asked == ["DELETE /containers/box", *then]
