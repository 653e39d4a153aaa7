"""The demo model as a screen's agent, played to its end with a project in memory."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

import orjson
import pytest

from outlast.apps.screens.agent.tags import parse_outcome
from outlast.kernel.models.protocol import (
    CHECK_MARK,
    NOTE_MARK,
    Delta,
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
from outlast.kernel.sandboxes.template_files import template_files
from outlast_demo.model import DemoModel
from outlast_demo.screens.scripts import TYPE_CHECK
from outlast_demo.screens.sources import PAGE, SCREENS, files_of

SPEC = ModelSpec("demo", "demo", "demo")
TOOLS = tuple(ToolSpec(name, "", {}) for name in ("create_or_update_files", "read_files", "terminal", "ask_user"))
SYSTEM = "You build screens. End with <task_summary>."


@dataclass
class Project:
    """A project whose types always hold, unless `types` says otherwise."""

    files: dict[str, str] = field(default_factory=lambda: {k: v.decode() for k, v in template_files("vite").items()})
    title: str = "Screen 1"
    types: str = ""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # told after the next results, one after the other
    calls: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    def context(self) -> TextPiece:
        listed = "\n".join(f"- {path}" for path in sorted(self.files) if not path.startswith("components/ui/"))
        return TextPiece(f"[The screen as this run found it]\nTitle: {self.title}\nFiles of the project:\n{listed}")

    def answer(self, call: ToolCallPiece) -> ToolResultPiece:
        arguments = orjson.loads(call.arguments)
        self.calls.append(call.name)
        match call.name:
            case "create_or_update_files":
                for one in arguments["files"]:
                    self.files[one["path"]] = one["content"]
                    self.written.append(one["path"])
                return ToolResultPiece(call.call_id, call.name, "Written")
            case "read_files":
                told = [
                    {"path": path, "content": self.files[path], "truncated": False}
                    if path in self.files
                    else {"path": path, "error": "no such file"}
                    for path in arguments["paths"]
                ]
                return ToolResultPiece(call.call_id, call.name, orjson.dumps(told).decode())
        assert arguments["command"] == TYPE_CHECK
        return ToolResultPiece(call.call_id, call.name, self.types or "[no output, exit code 0]", bool(self.types))


async def turn(messages: list[ModelMessage], tools: tuple[ToolSpec, ...] = TOOLS) -> list[Delta]:
    request = ModelRequest(SPEC, SYSTEM, tuple(messages), tools)
    deltas: list[Delta] = []
    async with aclosing(DemoModel(delta_delay_s=0).stream(request)) as batches:
        async for batch in batches:
            deltas += batch
    return deltas


async def play(project: Project, asked: str) -> str:
    """The last answer's text. Each of the project's problems is told once, after an answer that would end the run."""
    messages = [ModelMessage("user", (project.context(), TextPiece(asked)))]
    for _ in range(15):
        deltas = await turn(messages)
        text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
        calls = calls_in(deltas)
        messages.append(ModelMessage("assistant", (TextPiece(text), *calls)))
        if calls:
            messages.append(ModelMessage("tool", tuple(project.answer(call) for call in calls)))
            if project.notes:
                messages.append(ModelMessage("user", (TextPiece(f"{NOTE_MARK} {project.notes.pop(0)}"),)))
        elif project.problems:
            told = f"{CHECK_MARK}\n\n1. {project.problems.pop(0)}"
            messages.append(ModelMessage("user", (TextPiece(told),)))
        else:
            return text
    raise AssertionError("it does not end within 15 steps")


def calls_in(deltas: list[Delta]) -> list[ToolCallPiece]:
    arguments: dict[int, str] = {}
    for delta in deltas:
        if isinstance(delta, ToolArgumentsDelta):
            arguments[delta.index] = arguments.get(delta.index, "") + delta.delta
    return [
        ToolCallPiece(delta.call_id, delta.name, arguments[delta.index])
        for delta in deltas
        if isinstance(delta, ToolCallStart)
    ]


def files_said(text: str) -> set[str]:
    return {one.path for one in parse_outcome(text).files}


ASKED: Mapping[str, str] = {
    "landing": "a landing page",
    "dashboard": "a dashboard",
    "sign_in": "a sign-in form",
    "pricing": "a pricing page",
    "pricing_yearly": "a pricing page, monthly and yearly",
    "kanban": "a kanban board",
    "charts": "a page of charts",
}


@pytest.mark.parametrize("screen", sorted(SCREENS))
async def test_a_screen_is_written_checked_and_summed_up(screen: str) -> None:
    project = Project()
    text = await play(project, ASKED[screen])
    assert project.calls == ["create_or_update_files", "terminal"]
    assert set(project.written) == set(files_of(screen)) == set(SCREENS[screen].files) == files_said(text)
    outcome = parse_outcome(text)
    assert outcome.title == SCREENS[screen].title
    assert outcome.task_summary is not None
    assert "Made by the demo model" in outcome.task_summary


@pytest.mark.parametrize("screen", sorted(SCREENS))
@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("make it warmer", "[--primary:var(--chart-3)]"),
        ("add a FAQ", "<Faq />"),
        ("make it more compact", "[--spacing:0.21rem]"),
        ("add testimonials", "<Testimonials />"),
        ("make it work on phones", "<PhoneBar />"),
        ("add a light mode switch", "<ModeSwitch />"),
    ],
)
async def test_a_change_reads_what_is_there_and_keeps_it(screen: str, asked: str, wanted: str) -> None:
    project = Project()
    await play(project, ASKED[screen])
    project.files[PAGE] = project.files[PAGE].replace('className="', 'className="by-hand ', 1)
    project.calls.clear()
    project.written.clear()
    project.title = "A title of my own"
    text = await play(project, asked)
    assert project.calls == ["read_files", "create_or_update_files", "terminal"]
    assert wanted in project.files[PAGE]
    assert "by-hand" in project.files[PAGE]
    assert files_said(text) == set(project.written)
    assert parse_outcome(text).title == "A title of my own"


async def test_a_wish_is_done_also_where_the_sandbox_was_lost_meanwhile() -> None:
    """The notice was glued in front of the file that was read: no JSON any more, and the first wish was dropped."""
    project = Project()
    await play(project, "a landing page")
    project.notes.append("The sandbox had ended.")
    await play(project, "make it warmer")
    assert project.notes == []
    assert "[--primary:var(--chart-3)]" in project.files["app/page.tsx"]


async def test_changes_add_up() -> None:
    project = Project()
    for asked in ("a pricing page", "make it warmer", "add a FAQ", "add a monthly and yearly switch", "now blue"):
        await play(project, asked)
    page = project.files[PAGE]
    assert "<Faq />" in page
    assert "[--primary:var(--chart-5)]" in page
    assert "chart-3" not in page
    assert "setYearly" in project.files["components/pricing-plans.tsx"]


async def test_a_change_that_is_there_already_writes_nothing() -> None:
    project = Project()
    await play(project, "a landing page")
    await play(project, "add a FAQ")
    project.calls.clear()
    text = await play(project, "add a FAQ")
    assert project.calls == ["read_files"]
    assert "already" in text


async def test_the_yearly_switch_needs_the_pricing_page() -> None:
    project = Project()
    await play(project, "a dashboard")
    text = await play(project, "add a yearly switch")
    assert "pricing page" in text
    assert files_said(text) == set()


async def test_what_is_not_recorded_is_said_plainly() -> None:
    project = Project()
    text = await play(project, "whales")
    assert "No recording matches this request" in text
    assert project.files[PAGE] == files_of("landing")[PAGE]
    project.calls.clear()
    assert "make it warmer" in await play(project, "sing to me")
    assert project.calls == []


async def test_problems_of_the_check_are_mended_by_writing_the_files_once_more() -> None:
    project = Project(problems=["app/page.tsx:1:1 TS1005"])
    text = await play(project, "a pricing page")
    assert project.calls == ["create_or_update_files", "terminal"] * 2
    assert parse_outcome(text).title == "Pricing page"


async def test_problems_that_stay_end_in_plain_words() -> None:
    project = Project(problems=["the page throws"] * 3)
    text = await play(project, "a pricing page")
    assert "none of my recordings can fix" in text
    assert "the page throws" in text


async def test_a_change_that_does_not_pass_the_check_is_taken_back() -> None:
    project = Project()
    await play(project, "a landing page")
    before = project.files[PAGE]
    project.problems.append("the page throws")
    text = await play(project, "add a FAQ")
    assert project.files[PAGE] == before
    assert "undid it" in text


async def test_what_the_type_check_said_is_quoted() -> None:
    text = await play(Project(types="app/other.tsx(1,1): error TS2304\n[exit code 1]"), "a pricing page")
    assert "error TS2304" in text


async def test_without_a_sandbox_it_says_so_and_ends() -> None:
    messages = [ModelMessage("user", (TextPiece("a pricing page"),))]
    deltas = await turn(messages, tools=())
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert parse_outcome(text).task_summary is not None
    assert "outlast doctor" in text


async def test_a_screen_is_streamed_within_half_a_minute() -> None:
    """At the default pause of 0.02 s between deltas, the longest screen has time to spare."""
    project, deltas = Project(), 0
    messages = [ModelMessage("user", (project.context(), TextPiece("a landing page")))]
    for _ in range(3):
        news = await turn(messages)
        deltas += len(news)
        calls = calls_in(news)
        messages += [
            ModelMessage("assistant", tuple(calls)),
            ModelMessage("tool", tuple(project.answer(call) for call in calls)),
        ]
    assert deltas * 0.02 < 20
