"""Screens on a real server: a model behind OpenAI's wire format, the Vite template in a real sandbox, its compiler, its
dev server and a photographer; then everything is killed that can be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import anyio
import orjson
import pytest
import sqlalchemy as sa

from outlast.apps.screens.agent.checks import STUBBORN
from outlast.base.ids import new_id
from outlast.base.image_formats import recognise
from outlast.db.database import Database
from outlast.kernel.credits.rows import LedgerRow
from outlast.kernel.credits.tables import ledger
from outlast.kernel.models.protocol import CHECK_MARK
from outlast.kernel.runs.shipped_policy import SCREEN_POLICY
from outlast.kernel.threads.tables import messages
from outlast.testing.model_server import Answer, Fault, ModelServer
from outlast_sandbox.browser.chromium import find_browser
from outlast_sandbox.providers.local.sandbox import State
from tests.crash import kills
from tests.crash.conftest import MakeServer
from tests.crash.outcome import check_ledger
from tests.crash.scenario import Played, follow
from tests.crash.server import CrashServer
from tests.flow.sandboxes.test_lost import kill_shim
from tests.flow.screens.rig import closing, page
from tests.photographer import png

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(900)]
MODELS = """
[[models]]
id = "seeing"
provider = "scripted"
name = "seeing"
vision = true
credits = 2
[screens]
template = "vite"
"""
PATIENCE_S = 600.0  # the first run on a machine waits for the template's installation


@pytest.fixture
async def stage(make_server: MakeServer) -> AsyncIterator[tuple[CrashServer, Database]]:
    server = make_server(more=MODELS)
    async with kills.opened(server) as db:
        yield server, db


def write(path: str, content: str) -> dict[str, Any]:
    return {"name": "create_or_update_files", "arguments": {"files": [{"path": path, "content": content}]}}


def terminal(command: str) -> dict[str, Any]:
    return {"name": "terminal", "arguments": {"command": command}}


async def new_screen(server: CrashServer) -> Any:
    project = (await server.get("/v1/projects"))["items"][0]
    status, screen = await server.call("POST", f"/v1/projects/{project['id']}/screens", {})
    assert status == 201, screen
    return screen


async def ask(server: CrashServer, screen: Any, content: str, **more: Any) -> Played:
    path, marker = f"/v1/threads/{screen['thread_id']}/runs", new_id("request")[-8:]
    status, body = await server.call("POST", path, {"content": content, **more}, key=marker)
    assert status == 202, body
    return Played(body["run_id"], screen["thread_id"], screen["project_id"], marker)


async def upload(server: CrashServer, content: bytes) -> str:
    form = aiohttp.FormData()
    form.add_field("file", content, filename="sketch.png", content_type="image/png")
    assert server.client is not None
    async with server.client.post(f"{server.url}/v1/attachments", data=form) as answer:
        body = await answer.json()
        assert answer.status == 201, body
        return str(body["id"])


def named(events: list[tuple[int, dict[str, Any]]], name: str) -> list[dict[str, Any]]:
    return [event["data"] for _, event in events if event["event"] == name]


def steps(played: Played) -> list[tuple[str, str]]:
    return [(step["name"], step["status"]) for step in named(played.events, "workflow.step")]


async def test_a_screen_is_built_over_the_wire_with_an_image_a_rate_limit_a_denied_call_and_a_type_error(
    stage: tuple[CrashServer, Database], model: ModelServer
) -> None:
    server, db = stage
    with anyio.fail_after(PATIENCE_S):
        screen, image = await new_screen(server), await upload(server, png(40, 30))
        refused, body = await server.call(
            "POST", f"/v1/threads/{screen['thread_id']}/runs", {"content": "x", "images": [image]}
        )
        assert (refused, body["code"]) == (422, "vision_unsupported")
        assert await db.read(lambda tx: tx.rows(LedgerRow, sa.select(ledger).where(ledger.c.run_id.is_not(None)))) == []

        model.add(
            Answer(text="A dev server first.", calls=(terminal("cd /workspace &&  npm   run dev &"),)),
            Answer(fault=Fault.RATE_LIMITED, retry_after="0"),
            Answer(calls=(write("app/page.tsx", page("Three plans", wrong=True)),)),
            Answer(text=closing()),
            Answer(calls=(write("app/page.tsx", page("Three plans, mended")),)),
            Answer(text="Mended."),
        )
        played = await ask(server, screen, "Like this sketch", model="seeing", images=[image])
        async for _ in follow(server, played):
            pass
        (completed,) = named(played.events, "run.completed")
        assert (completed["stop_reason"], completed["problems"], completed["credits"]) == ("end", [], 2)
        sent = [request.body for request in model.requests]
        parts = sent[0]["messages"][-1]["content"]
        assert [part["type"] for part in parts][-1] == "image_url"
        assert parts[-1]["image_url"]["url"].startswith("data:image/png;base64,")
        assert {tool["function"]["name"] for tool in sent[0]["tools"]} == {
            "terminal", "create_or_update_files", "read_files", "ask_user",
            "read_file", "search_files", "remember", "recall",
        }  # fmt: skip
        assert sent[1]["messages"][-1]["content"] == f"Error: {SCREEN_POLICY[0].reason}"
        assert [data["reason"] for data in named(played.events, "run.status") if data.get("retry_at")] == [
            "model_rate_limited"
        ]
        problem = sent[4]["messages"][-1]["content"]
        assert problem.startswith(CHECK_MARK)
        assert "app/page.tsx:1:7 TS2322" in problem

        now = await server.get(f"/v1/screens/{screen['id']}")
        assert (now["title"], now["state"], now["problems"]) == ("Pricing page", "ready", [])
        assert [file["path"] for file in now["files"]] == ["app/page.tsx"]
        await _pictured(server, now, played)

        asked = len(model.requests)
        model.add(
            Answer(calls=(write("app/page.tsx", page("Two plans")),)),
            Answer(text=closing(title="Two plans", summary="Now two.")),
        )
        again = await ask(server, screen, "Only two plans", model="seeing")
        async for _ in follow(server, again):
            pass
        heard = model.requests[asked].body["messages"]
        assert "<files_summary>\n- app/page.tsx: the page\n</files_summary>" in str(heard[2]["content"])
        after = await server.get(f"/v1/screens/{screen['id']}")
        assert (after["title"], after["sandbox_id"]) == ("Two plans", now["sandbox_id"])
        assert after["picture_id"] != now["picture_id"]


COMPLAINING = """\
export default function Page() {
  console.error("the plans are missing", 3);
  return <main>Plans</main>;
}
"""
THROWING = """\
const plans: string[] = [];

export default function Page() {
  return <main>{plans.map((plan) => plan).reduce((all, plan) => all + plan)}</main>;
}
"""


@pytest.mark.skipif(find_browser() is None, reason="no Chromium: apt install chromium")
async def test_what_a_page_writes_to_its_console_or_throws_goes_back_to_the_agent_and_stays_a_problem(
    stage: tuple[CrashServer, Database], model: ModelServer
) -> None:
    """Both pages compile: only a browser that opens them sees what is wrong."""
    server, _ = stage
    with anyio.fail_after(PATIENCE_S):
        screen = await new_screen(server)
        model.add(
            Answer(calls=(write("app/page.tsx", COMPLAINING),)),
            Answer(text=closing()),
            Answer(calls=(write("app/page.tsx", THROWING),)),
            *(Answer(text="It is fine now.") for _ in range(STUBBORN)),
        )
        played = await ask(server, screen, "A page with plans", model="seeing")
        async for _ in follow(server, played):
            pass
        sent = [str(request.body["messages"][-1]["content"]) for request in model.requests]
        told = [text for text in sent if text.startswith(CHECK_MARK)]
        assert "The page writes errors to its console when it is opened" in told[0]
        assert "the plans are missing 3" in told[0]
        assert "throws" not in told[0]
        assert "The page throws when it is opened" in told[1]
        assert "TypeError: Reduce of empty array with no initial value" in told[1]
        assert not any("TS" in text for text in told)

        (completed,) = named(played.events, "run.completed")
        assert completed["stop_reason"] == "problems"
        (problem,) = completed["problems"]
        assert "Uncaught TypeError: Reduce of empty array with no initial value" in problem
        assert completed["credits"] == 0
        (short,) = (await server.get(f"/v1/screens/{screen['id']}"))["problems"]
        assert short.startswith("The page throws: Uncaught TypeError: Reduce of empty array")


async def _pictured(server: CrashServer, screen: Any, played: Played) -> None:
    """The picture is an image of the screen's size, where there is a browser; else it is said that there is none."""
    if screen["picture_id"] is None:
        assert ("picture", "skipped") in steps(played)
        return
    assert server.client is not None
    async with server.client.get(f"{server.url}/v1/attachments/{screen['picture_id']}") as answer:
        image = recognise(await answer.read())
    assert image is not None
    assert (image.width, image.height) == (screen["width"], screen["height"])


async def test_a_screen_survives_the_death_of_its_sandbox_and_then_of_the_server_in_the_middle_of_the_check(
    stage: tuple[CrashServer, Database], model: ModelServer
) -> None:
    server, db = stage
    model.add(
        Answer(calls=(write("app/page.tsx", page("Outlasts")),)),
        Answer(calls=(terminal("echo begun; sleep 1000"),)),
        Answer(text=closing(title="It outlasts")),
    )
    with anyio.fail_after(PATIENCE_S):
        screen = await new_screen(server)
        played = await ask(server, screen, "Something that lasts")
        killed = ""
        async for event in follow(server, played):
            if event["event"] == "tool_call.output.delta" and not killed:
                killed = await _kill_sandbox(server, screen)
            step = event["data"] if event["event"] == "workflow.step" else {}
            if (step.get("name"), step.get("status")) == ("check", "started") and server.starts == 1:
                await server.kill()
        (completed,) = named(played.events, "run.completed")
        assert (completed["stop_reason"], completed["problems"]) == ("end", [])
        assert (server.starts, played.cuts) == (2, 1)
        assert len(named(played.events, "context.lost")) == 1
        now = await server.get(f"/v1/screens/{screen['id']}")
        assert (now["title"], now["state"]) == ("It outlasts", "ready")
        assert now["sandbox_id"] not in (killed, None)
        content = await server.get(f"/v1/screens/{screen['id']}/files/content?path=app/page.tsx")
        assert "Outlasts" in content
        assert len(model.requests) == 3  # nothing finished was asked again
        assert await db.read(_answers, screen["thread_id"]) == 1
        await check_ledger(db)


async def test_a_screen_whose_sandbox_died_between_two_runs_goes_on_with_its_files_and_its_theme(
    stage: tuple[CrashServer, Database], model: ModelServer
) -> None:
    server, _ = stage
    rewritten = '@import "tailwindcss";\nbody { color: red; }\n'
    model.add(
        Answer(calls=(write("app/page.tsx", page("Kept")),)),
        Answer(text=closing()),
        Answer(calls=({"name": "read_files", "arguments": {"paths": ["app/page.tsx"]}},)),
        Answer(calls=(write("app/globals.css", rewritten),)),
        Answer(text=closing(title="Red")),
    )
    with anyio.fail_after(PATIENCE_S):
        screen = await new_screen(server)
        path = f"/v1/screens/{screen['id']}"
        first = await ask(server, screen, "Something to keep")
        async for _ in follow(server, first):
            pass
        assert named(first.events, "context.lost") == []
        status, changed = await server.call("PATCH", path, {"theme": "cyberpunk"})
        assert status == 200, changed
        killed = await _kill_sandbox(server, screen)
        again = await ask(server, screen, "Make it red")
        async for _ in follow(server, again):
            pass
        (completed,) = named(again.events, "run.completed")
        assert (completed["stop_reason"], completed["problems"]) == ("end", [])
        assert len(named(again.events, "context.lost")) == 1
        assert ("tell_context_lost", "done") in steps(again)
        heard = model.requests[3].body["messages"]
        read = [one["content"] for one in heard if one["role"] == "tool"][-1]
        assert "Kept" in read, "the agent reads in the new one what it wrote in the old one"
        assert "earlier processes and variables are gone" in heard[-1]["content"]
        now = await server.get(path)
        assert now["sandbox_id"] not in (killed, None)
        answer = (await server.get(f"/v1/threads/{screen['thread_id']}/messages"))["items"][-1]
        assert [part["code"] for part in answer["parts"] if part["type"] == "notice"] == ["context_lost"]
        styles = await server.get(f"{path}/files/content?path=app/globals.css")
        assert "color: red" in styles
        assert "--color-background: var(--background)" in styles, "what ties the classes to the theme is back"


MOMENTS = [
    ("load_screen", "done"),
    ("open_sandbox", "started"),
    ("load_messages", "done"),
    ("agent", "started"),
    ("agent", "done"),
    ("check", "failed"),
    ("check", "done"),
    ("picture", "started"),
    ("picture", "done"),
]


@pytest.mark.deep
@pytest.mark.parametrize("moment", MOMENTS, ids=" ".join)
async def test_a_server_killed_at_any_step_of_a_screens_way_comes_to_the_same_end(
    stage: tuple[CrashServer, Database], model: ModelServer, moment: tuple[str, str]
) -> None:
    server, db = stage
    turns = [
        {"calls": [write("app/page.tsx", page("Outlasts", wrong=True))]},
        {"text": closing(title="It outlasts")},
        {"calls": [write("app/page.tsx", page("Outlasts"))]},
        {"text": "Mended."},
    ]
    with anyio.fail_after(PATIENCE_S):
        screen = await new_screen(server)
        played = await ask(server, screen, f"Build it. [[model {orjson.dumps(turns).decode()}]]")
        async for event in follow(server, played):
            step = event["data"] if event["event"] == "workflow.step" else {}
            if (step.get("name"), step.get("status")) == moment and server.starts == 1:
                await server.kill()
        assert server.starts == 2
        (completed,) = named(played.events, "run.completed")
        assert (completed["stop_reason"], completed["problems"]) == ("end", [])
        assert named(played.events, "context.lost") == []
        now = await server.get(f"/v1/screens/{screen['id']}")
        assert (now["title"], now["state"], now["problems"]) == ("It outlasts", "ready", [])
        content = await server.get(f"/v1/screens/{screen['id']}/files/content?path=app/page.tsx")
        assert content == page("Outlasts")
        assert await db.read(_answers, screen["thread_id"]) == 1
        answer = (await server.get(f"/v1/threads/{screen['thread_id']}/messages"))["items"][-1]
        pictures = [part["attachment_id"] for part in answer["parts"] if part["type"] == "image"]
        assert pictures == ([] if now["picture_id"] is None else [now["picture_id"]])
        await check_ledger(db)


async def _kill_sandbox(server: CrashServer, screen: Any) -> str:
    sandbox_id = str((await server.get(f"/v1/screens/{screen['id']}"))["sandbox_id"])
    state = State.read(server.provider().state_dir / sandbox_id)
    assert state is not None
    kill_shim(state)
    return sandbox_id


def _answers(tx: Any, thread_id: str) -> int:
    mine = messages.c.thread_id == thread_id, messages.c.role == "assistant"
    return int(tx.execute(sa.select(sa.func.count(messages.c.id)).where(*mine)).scalar())
