"""The demo model at a page, with a real tracker and real TypeScript: what it shows is what the tracker said."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import deno
import orjson
import pytest

from outlast.apps.pages import user_action_rules as rules
from outlast.apps.pages.agent.context import Found, message_of
from outlast.apps.pages.agent.prompt import system_prompt
from outlast.apps.pages.apply import apply_patches
from outlast.apps.pages.line_parser import (
    FullLine,
    ModulesLine,
    PatchesLine,
    ProblemLine,
    ProseLine,
    SummaryLine,
    read_line,
)
from outlast.apps.pages.shapes import Patch
from outlast.apps.pages.tree import Tree
from outlast.base.clock import SystemClock
from outlast.kernel.models.protocol import (
    ModelMessage,
    ModelRequest,
    ModelSpec,
    TextDelta,
    TextPiece,
    ToolArgumentsDelta,
    ToolCallPiece,
    ToolCallStart,
    ToolResultPiece,
    ToolSpec,
)
from outlast.kernel.settings import Settings
from outlast.kernel.settings.server import ServerSettings
from outlast_demo.model import DemoModel
from outlast_demo.tracker.service import SIDECAR, Tracker
from tests.page_sequences import sanitised_html

MAX_TURNS = 12
SPEC = ModelSpec(id="demo", provider="demo", name="demo")


@dataclass
class Desk:
    """A page by hand: what the runs room, the tools and the pages room do, in small."""

    tracker: Tracker
    folder: Path
    html: str = ""
    modules: str = ""
    summaries: list[str] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    patches: list[Patch] = field(default_factory=list)
    announced: list[Any] = field(default_factory=list)
    has_sandbox: bool = True
    docs: str = ""

    async def ask(self, words: str) -> None:
        await self._run(words)

    async def act(self, *actions: tuple[str, dict[str, Any]]) -> None:
        await self._run(rules.told(actions))

    def status(self, key: str) -> str:
        return self.tracker.kept.book.issues[key].status

    async def _run(self, now: str) -> None:
        self.calls, self.prose, self.patches, self.announced = [], [], [], []
        found = Found("page_1", 1, self.modules, tuple(self.summaries[-6:]))
        messages = [ModelMessage("user", (TextPiece(message_of(found, self.html, now, 100_000)),))]
        for _turn in range(MAX_TURNS):
            text, calls = await self._turn(messages)
            self._take(text)
            if not calls:
                return
            messages.append(ModelMessage("assistant", (TextPiece(text), *calls)))
            messages += [ModelMessage("tool", (await self._call(call),)) for call in calls]
        raise AssertionError("the demo model does not come to an end")

    async def _turn(self, messages: list[ModelMessage]) -> tuple[str, list[ToolCallPiece]]:
        names = ("search_docs", "run_code") if self.has_sandbox else ()
        tools = tuple(ToolSpec(name, "", {}) for name in names)
        network = "It reaches the tracker." if self.has_sandbox else None
        request = ModelRequest(SPEC, system_prompt(network, []), tuple(messages), tools)
        text, starts, arguments = "", dict[int, ToolCallStart](), dict[int, str]()
        async for batch in DemoModel(delta_delay_s=0).stream(request):
            for delta in batch:
                match delta:
                    case TextDelta():
                        text += delta.text
                    case ToolCallStart():
                        starts[delta.index] = delta
                    case ToolArgumentsDelta():
                        arguments[delta.index] = arguments.get(delta.index, "") + delta.delta
        calls = [ToolCallPiece(one.call_id, one.name, arguments[index]) for index, one in starts.items()]
        return text, calls

    def _take(self, text: str) -> None:
        tree = Tree(self.html)
        for line in text.splitlines():
            match read_line(line):
                case FullLine(html, _title):
                    tree = Tree(sanitised_html(html))
                case PatchesLine(patches, problems):
                    assert not problems
                    applied = apply_patches(tree, patches)
                    assert not applied.problems
                    self.patches += applied.patches
                case ModulesLine(modules, problems):
                    assert not problems
                    self.announced += modules
                case SummaryLine(summary):
                    self.summaries.append(summary)
                case ProseLine(prose):
                    self.prose.append(prose)
                case ProblemLine(problem):
                    raise AssertionError(problem)
        self.html = tree.html()

    async def _call(self, call: ToolCallPiece) -> ToolResultPiece:
        arguments = orjson.loads(call.arguments)
        self.calls.append((call.name, arguments))
        if call.name == "search_docs":
            return ToolResultPiece(call.call_id, call.name, self._search(arguments["query"]))
        told = await anyio.to_thread.run_sync(self._evaluate, arguments["code"])
        return ToolResultPiece(call.call_id, call.name, json.dumps(told), not told["success"])

    def _search(self, query: str) -> str:
        """The two sections that share most words with the query: as little as a search may give."""
        words = set(re.findall(r"\w+", query.lower()))
        sections = re.split(r"^## ", self.docs, flags=re.MULTILINE)[1:]
        best = sorted(sections, key=lambda one: -len(words & set(re.findall(r"\w+", one.lower()))))
        return orjson.dumps({"results": [{"type": "doc", "content": one} for one in best[:2]]}).decode()

    def _evaluate(self, code: str) -> dict[str, Any]:
        script = self.folder / "script.ts"
        script.write_text(f"const result = {code}\nconsole.log(JSON.stringify(result));")
        done = subprocess.run(
            [deno.find_deno_bin(), "run", "-A", "--quiet", str(script)],
            cwd=self.folder,
            env={**os.environ, "DENO_DIR": str(self.folder / ".deno"), **self.tracker.secrets},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if done.returncode:
            return {"success": False, "result": None, "error": done.stderr, "stdout": ""}
        return {"success": True, "result": json.loads(done.stdout), "error": None, "stdout": ""}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    settings = Settings(server=ServerSettings(data_dir=str(tmp_path)))
    tracker = SIDECAR.open(settings, tmp_path, SystemClock())
    assert tracker is not None
    work = tmp_path / "work"
    work.mkdir()
    async with anyio.create_task_group() as tasks:
        await tasks.start(tracker.run)
        yield Desk(tracker, work, docs=tracker.docs.read_text())
        tasks.cancel_scope.cancel()
    tracker.close()


def _tools(desk: Desk) -> list[str]:
    return [name for name, _ in desk.calls]


async def test_open_issues_are_looked_up_fetched_by_code_and_shown_as_the_tracker_has_them(desk: Desk) -> None:
    await desk.ask("show my open issues")
    assert _tools(desk)[0] == "search_docs"
    assert _tools(desk)[-1] == "run_code"
    assert desk.tracker.secret.reveal().decode() not in desk.html
    mine = [one for one in desk.tracker.kept.book.issues.values() if one.assignee == "ada" and one.is_open]
    assert {f'id="issue-{one.key}"' in desk.html for one in mine} == {True}
    assert desk.html.count("<li id=") == len(mine) == 8
    assert ">8</div>" in desk.html
    assert desk.summaries == ["show my open issues → fetched 8 issues and listed them"]
    assert "demo model" in desk.html


async def test_a_click_closes_an_issue_in_the_tracker_and_patches_only_what_it_changed(desk: Desk) -> None:
    await desk.ask("show my open issues")
    await desk.act(("close", {"issue": "ATL-7"}))
    assert desk.status("ATL-7") == "done"
    assert {patch.at for patch in desk.patches} <= {
        "#status-ATL-7", "#buttons-ATL-7", "#assignee-ATL-7", "#title-ATL-7", "#issue-ATL-7",
        "#count-open", "#count-urgent",
    }  # fmt: skip
    assert 'id="count-open">7<' in desk.html
    await desk.act(
        ("reopen", {"issue": "ATL-7"}), ("close", {"issue": "HAR-3"}), ("assign", {"issue": "HAR-4", "to": "jonas"})
    )
    assert (desk.status("ATL-7"), desk.status("HAR-3")) == ("todo", "done")
    assert _tools(desk).count("run_code") == 1
    assert 'id="assignee-HAR-4">jonas<' in desk.html


async def test_a_form_makes_a_new_issue_that_stands_first(desk: Desk) -> None:
    await desk.ask("my issues")
    await desk.act(("create", {"title": "<b>Bold</b> & new", "project": "LUM"}))
    assert desk.tracker.kept.book.issues["LUM-8"].title == "<b>Bold</b> & new"
    assert desk.html.index('id="issue-LUM-8"') < desk.html.index('id="issue-ATL-7"')
    assert "&lt;b&gt;Bold&lt;/b&gt; &amp; new" in desk.html
    assert 'id="count-open">9<' in desk.html


async def test_views_filters_details_comments_and_charts_follow_clicks(desk: Desk) -> None:
    await desk.ask("show my open issues")
    await desk.act(("show", {"query": "state=open&sort=priority"}))
    assert desk.html.count("<li id=") == 21
    await desk.act(("filter", {"project": "HAR", "value": "HAR"}))
    assert desk.html.count("<li id=") == 7
    assert "Open issues in Harbor" in desk.html
    await desk.act(("details", {"issue": "HAR-4"}))
    assert "deliveries 40 ms apart" in desk.html
    await desk.act(("comment", {"issue": "HAR-4", "text": "Fixed by a lease."}))
    assert "Fixed by a lease." in desk.html
    await desk.act(("hide", {}))
    assert "Fixed by a lease." not in desk.html
    await desk.act(("summary", {}))
    assert 'id="summary-total">7<' in desk.html
    assert 'class="bar"' in desk.html
    await desk.act(("hide-summary", {}), ("refresh", {}))
    assert 'id="summary"' not in desk.html


async def test_saved_code_is_announced_and_used_by_later_requests_without_looking_up_again(desk: Desk) -> None:
    await desk.ask("show my open issues")
    await desk.ask("save that as a module")
    assert (desk.folder / "lib/issues.ts").exists()
    assert [one.path for one in desk.announced] == ["lib/issues.ts"]
    saved = desk.announced[0]
    lines = [f"- {saved.path}: {', '.join(saved.exports)}", f"  usage: {saved.usage}"]
    desk.modules = "\n".join(["[SANDBOX MODULES]", *lines])
    await desk.act(("close", {"issue": "ATL-7"}))
    assert _tools(desk) == ["run_code"]
    assert 'import("./lib/issues.ts")' in desk.calls[0][1]["code"]
    assert desk.status("ATL-7") == "done"
    await desk.ask("now those of Harbor")
    assert _tools(desk) == ["run_code"]
    (desk.folder / "lib/issues.ts").unlink()
    await desk.ask("show my open issues")
    assert _tools(desk)[:2] == ["run_code", "search_docs"]
    assert _tools(desk)[-1] == "run_code"
    assert desk.html.count("<li id=") == 7


async def test_a_chart_stands_on_a_page_of_its_own_and_leads_to_the_list(desk: Desk) -> None:
    await desk.ask("a chart of all open issues")
    assert 'id="status-in_progress"' in desk.html
    query = re.search(r'data-action="show" data-query="([^"]*)"', desk.html)
    assert query is not None
    await desk.act(("show", {"query": query[1].replace("&amp;", "&")}))
    assert desk.html.count("<li id=") == 21


async def test_what_was_asked_before_is_remembered_by_words_that_point_back(desk: Desk) -> None:
    desk.summaries = ['"show the urgent issues of Atlas" → fetched 2 issues']
    await desk.ask("the same as before")
    assert "Urgent open issues in Atlas" in desk.html


async def test_what_is_not_recorded_is_said_and_an_empty_page_says_what_can_be_asked(desk: Desk) -> None:
    await desk.ask("translate this poem")
    assert not desk.calls
    assert "demo model" in " ".join(desk.prose)
    assert "show my open issues" in desk.html
    before = desk.html
    await desk.ask("translate another")
    assert desk.html == before
    await desk.act(("unheard-of", {}))
    assert desk.html == before


async def test_pages_without_tools_count_and_keep_lists(desk: Desk) -> None:
    await desk.ask("a counter")
    await desk.act(("increment", {}), ("increment", {}), ("decrement", {}))
    assert 'id="count">1<' in desk.html
    await desk.ask("a to-do list")
    await desk.act(("add-item", {"text": "Buy <milk>"}))
    assert "Buy &lt;milk&gt;" in desk.html
    await desk.act(("toggle-item", {"item": "3"}))
    assert 'id="thing-text-3" class="done"' in desk.html
    await desk.act(("remove-item", {"item": "3"}))
    assert "milk" not in desk.html
    assert not desk.calls


async def test_without_a_sandbox_it_says_so_and_builds_from_the_words_alone(desk: Desk) -> None:
    desk.has_sandbox = False
    await desk.ask("show my open issues")
    assert "no sandbox" in desk.prose[0]
    assert not desk.calls
    assert "no sandbox" in desk.html


async def test_documentation_that_says_nothing_is_said_and_nothing_is_made_up(desk: Desk) -> None:
    desk.docs = "# Nothing\n## Here\nNothing.\n"
    await desk.ask("show my open issues")
    assert _tools(desk) == ["search_docs", "search_docs"]
    assert "does not cover an issues tracker" in desk.html


async def test_a_tracker_that_refuses_is_told_of_in_its_own_words(desk: Desk) -> None:
    await desk.ask("show my open issues")
    before = desk.html.count("<li id=")
    await desk.act(("close", {"issue": "ATL-99"}))
    assert "404 not_found" in desk.html
    assert desk.html.count("<li id=") == before
