"""A screen is asked for and built: the agent writes files, is told what is wrong, mends it, and the screen is saved."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import orjson
import pytest

from outlast.apps.screens.actions import change_screen
from outlast.apps.screens.shapes import ScreenPatch
from outlast.apps.screens.theme_classes import dress
from outlast.apps.screens.themes import theme_of
from outlast.base.clock import SystemClock
from outlast.db.connect import open_database
from outlast.db.database import Database
from outlast.kernel.models.protocol import ModelMessage, ModelRequest, TextPiece
from outlast.kernel.runs.actions import cancel_run
from outlast.kernel.runs.settings import PolicyRule, ProfileSettings
from outlast.kernel.runs.shipped_policy import SCREEN_POLICY
from outlast.kernel.streams.log_store import read_all
from outlast.kernel.threads.store import thread_data
from outlast.testing.scripted_model import Call, ScriptedModel, Turn, turn
from tests.flow.harness import told
from tests.flow.screens.rig import SETTINGS, building, closing, ended, page, steps, studio, write
from tests.photographer import look

FEW_STEPS = replace(SETTINGS, profiles={"screen": ProfileSettings(max_steps=3, context_messages=10)})


@pytest.fixture
async def own_db(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Database]:
    """For what does not depend on the database: SQLite alone."""
    db = open_database(sqlite_url, tmp_path, SystemClock())
    yield db
    await db.aclose()


def words(message: ModelMessage) -> str:
    return "\n".join(piece.text for piece in message.pieces if isinstance(piece, TextPiece))


async def test_a_screen_is_built_checked_pictured_and_saved(db: Database, tmp_path: Path) -> None:
    async with studio(db, tmp_path, building("Three plans")) as it:
        events = await it.asked("A pricing page")
        assert ended(events)["event"] == "run.completed"
        assert ended(events)["data"]["problems"] == []
        assert steps(events) == [
            ("load_screen", "started"), ("load_screen", "done"),
            ("open_sandbox", "started"), ("open_sandbox", "done"),
            ("load_messages", "started"), ("load_messages", "done"),
            ("agent", "started"), ("agent", "done"),
            ("check", "started"), ("check", "done"),
            ("preview_url", "done"),
            ("picture", "started"), ("picture", "done"),
            ("save_screen", "done"), ("save_answer", "done"), ("settle_credits", "done"),
        ]  # fmt: skip
        screen = await it.now()
        assert screen.title == "Pricing page"
        assert [(file.path, file.description) for file in screen.files] == [("app/page.tsx", "the page")]
        assert (screen.state, screen.problems) == ("ready", [])
        answer = await it.answer()
        (picture,) = [part for part in answer.parts if part.type == "image"]
        assert picture.attachment_id == screen.picture_id
        assert answer.credits == 3
        assert b"Three plans" in (await it.files())["app/page.tsx"]
        (seen,) = it.photographer.seen
        assert (seen.port, seen.path, seen.width, seen.height) == (3000, "/", screen.width, screen.height)


async def test_followers_of_the_project_hear_what_the_screen_has_become(own_db: Database, tmp_path: Path) -> None:
    async with studio(own_db, tmp_path, building(title="Price list")) as it:
        await it.asked()
        events = [orjson.loads(line) for _, line in await own_db.read(read_all, it.project_id)]
        screen = [event["data"]["screen"] for event in events if event["event"] == "screen.updated"][-1]
        assert (screen["title"], screen["state"]) == ("Price list", "ready")
        assert (await own_db.read(thread_data, it.thread_id)).title == "Price list"


async def test_a_type_error_is_told_with_file_and_line_and_the_run_goes_on_until_it_is_mended(
    db: Database, tmp_path: Path
) -> None:
    turns = [
        turn(write(("app/page.tsx", page(wrong=True)))),
        turn(closing()),
        turn(write(("app/page.tsx", page("Mended")))),
        turn("Mended."),
    ]
    async with studio(db, tmp_path, turns) as it:
        events = await it.asked()
        assert ended(events)["data"]["stop_reason"] == "end"
        told_problems = words(it.model.requests[2].messages[-1])
        assert "app/page.tsx:1:7 TS2322 Type 'string' is not assignable to type 'number'." in told_problems
        assert [status for name, status in steps(events) if name == "check"] == ["started", "failed", "started", "done"]
        screen = await it.now()
        assert (screen.title, screen.problems) == ("Pricing page", [])  # the tags need not be said twice
        answer = await it.answer()
        assert [part.type for part in answer.parts].count("image") == 1


async def test_a_page_that_throws_is_told_what_it_throws(own_db: Database, tmp_path: Path) -> None:
    broken = look(errors=("ReferenceError: plans is not defined at app/page.tsx:12:9",))
    turns = [*building(), turn(write(("app/page.tsx", page("Mended")))), turn("Mended.")]
    async with studio(own_db, tmp_path, turns, looks=[broken, look()]) as it:
        events = await it.asked()
        assert ended(events)["data"]["problems"] == []
        assert "ReferenceError: plans is not defined" in words(it.model.requests[2].messages[-1])


async def test_a_page_that_writes_errors_to_its_console_is_told_them(own_db: Database, tmp_path: Path) -> None:
    """They were collected and read by nobody: a page full of React's complaints passed as proven."""
    complaint = 'Each child in a list should have a unique "key" prop. Check the render method of Home.'
    turns = [*building(), turn(write(("app/page.tsx", page("Mended")))), turn("Mended.")]
    async with studio(own_db, tmp_path, turns, looks=[look(console=(complaint,)), look()]) as it:
        events = await it.asked()
        assert ended(events)["data"]["problems"] == []
        assert complaint in words(it.model.requests[2].messages[-1])


async def test_what_a_page_cannot_mend_or_has_thrown_already_is_not_held_against_it(
    own_db: Database, tmp_path: Path
) -> None:
    thrown = "Uncaught ReferenceError: plans is not defined\n    at Home (app/page.tsx:12:9)"
    noise = ("TypeError: Failed to fetch", "ReferenceError: plans is not defined. The above error occurred in Home.")
    looks = [look(errors=(thrown,), console=noise), look(console=noise[:1])]
    turns = [*building(), turn(write(("app/page.tsx", page("Mended")))), turn("Mended.")]
    async with studio(own_db, tmp_path, turns, looks=looks) as it:
        events = await it.asked()
        assert ended(events)["data"]["problems"] == []
        told = words(it.model.requests[2].messages[-1])
        assert "The page throws" in told
        assert "console" not in told


async def test_a_page_that_does_not_answer_is_a_problem(own_db: Database, tmp_path: Path) -> None:
    silent = look(status=None, picture=False, errors=("Nothing listens on port 3000.",), note="No answer.")
    async with studio(own_db, tmp_path, [*building(), turn("Waited.")], looks=[silent, look()]) as it:
        assert ended(await it.asked())["data"]["problems"] == []
        assert "Nothing listens on port 3000." in words(it.model.requests[2].messages[-1])


async def test_an_answer_without_its_tags_is_asked_for_them_and_files_that_did_not_change_are_not_compiled_again(
    own_db: Database, tmp_path: Path
) -> None:
    turns = [turn(write(("app/page.tsx", page()))), turn("All is done."), turn(closing())]
    async with studio(own_db, tmp_path, turns) as it:
        events = await it.asked()
        assert ended(events)["data"]["problems"] == []
        assert "<title> and <task_summary>" in words(it.model.requests[2].messages[-1])
        assert it.compiler.runs == 1


async def test_a_question_that_changes_no_file_costs_no_compile_in_the_next_run_either(
    own_db: Database, tmp_path: Path
) -> None:
    turns = [*building(), turn(closing(files="", summary="It is blue."))]
    async with studio(own_db, tmp_path, turns) as it:
        await it.asked()
        events = await it.asked("Which colour is it?")
        assert ended(events)["data"]["problems"] == []
        assert it.compiler.runs == 1
        assert [file.path for file in (await it.now()).files] == ["app/page.tsx"]


async def test_a_summary_in_a_turn_that_still_calls_a_tool_ends_the_work(own_db: Database, tmp_path: Path) -> None:
    turns = [turn(closing(), write(("app/page.tsx", page("Both at once"))))]
    async with studio(own_db, tmp_path, turns) as it:
        events = await it.asked()
        assert ended(events)["data"]["stop_reason"] == "end"
        assert b"Both at once" in (await it.files())["app/page.tsx"]


async def test_at_the_step_limit_a_screen_that_is_still_wrong_is_completed_with_problems_and_not_charged(
    db: Database, tmp_path: Path
) -> None:
    wrong = [turn(write(("app/page.tsx", page(f"Try {n}", wrong=True)))) for n in range(3)]
    async with studio(db, tmp_path, wrong, settings=FEW_STEPS) as it:
        events = await it.asked()
        completed = ended(events)
        assert (completed["event"], completed["data"]["stop_reason"]) == ("run.completed", "problems")
        assert "TS2322" in completed["data"]["problems"][0]
        assert completed["data"]["credits"] == 0
        (settled,) = [event for event in events if event["event"] == "credit.settled"]
        assert (settled["data"]["kind"], settled["data"]["balance"]) == ("release", 25)
        screen = await it.now()
        assert screen.state == "problems"
        assert screen.problems[0].startswith("1 type error, the first: app/page.tsx:1:7 TS2322")
        assert screen.picture_id is not None  # what there is, is shown


async def test_what_three_checks_find_in_files_that_nobody_changes_ends_the_run_with_its_problems(
    own_db: Database, tmp_path: Path
) -> None:
    wrong = turn(write(("app/page.tsx", page(wrong=True))))
    talk = [turn(closing(summary=f"It is done, believe me ({n}).")) for n in range(3)]
    async with studio(own_db, tmp_path, [wrong, *talk, turn("Never asked.")]) as it:
        events = await it.asked()
        completed = ended(events)
        assert (completed["event"], completed["data"]["stop_reason"]) == ("run.completed", "problems")
        assert completed["data"]["credits"] == 0
        assert len(it.model.requests) == 4  # not all of its fifteen turns
        assert (await it.now()).picture_id is not None


async def test_a_model_that_changes_something_between_checks_may_go_on_trying(own_db: Database, tmp_path: Path) -> None:
    tries = [turn(closing(), write(("app/page.tsx", page(f"Try {n}", wrong=True)))) for n in range(4)]
    mended = turn(write(("app/page.tsx", page("Mended"))))
    async with studio(own_db, tmp_path, [*tries, mended, turn(closing())]) as it:
        events = await it.asked()
        assert ended(events)["data"]["problems"] == []
        assert len(it.model.requests) == 6


async def test_a_compiler_that_is_not_there_is_nothing_that_the_model_could_mend(
    own_db: Database, tmp_path: Path
) -> None:
    async with studio(own_db, tmp_path, building()) as it:
        it.compiler.exit_code, it.compiler.output = 127, "not found"
        events = await it.asked()
        assert ended(events)["data"]["stop_reason"] == "problems"
        assert len(it.model.requests) == 2
        assert (await it.now()).problems == [
            "The types could not be checked: the compiler is not installed in the sandbox."
        ]


async def test_the_theme_is_put_back_after_the_agent_rewrote_the_style_sheet(own_db: Database, tmp_path: Path) -> None:
    css = '@import "tailwindcss";\n:root { --background: red; }\n'
    turns = [turn(write(("app/page.tsx", page()), ("app/globals.css", css))), turn(closing())]
    async with studio(own_db, tmp_path, turns) as it:
        await change_screen(it.services, it.owner, it.screen.id, ScreenPatch(theme="cyberpunk"))
        events = await it.asked()
        assert ended(events)["data"]["problems"] == []
        written = (await it.files())["app/globals.css"].decode()
        assert written == dress(css, theme_of("cyberpunk"))
        assert "--color-background: var(--background);" in written


async def test_a_dev_server_is_denied_by_policy_with_a_reason_and_without_asking_anybody(
    own_db: Database, tmp_path: Path
) -> None:
    turns = [turn(Call("terminal", {"command": "cd /workspace &&  npm   run dev &"})), *building()]
    async with studio(own_db, tmp_path, turns) as it:
        events = await it.asked()
        assert ended(events)["event"] == "run.completed"
        (denied,) = told(it.model.requests[1].messages[-1])
        assert denied == SCREEN_POLICY[0].reason
        (result,) = [e["data"] for e in events if e["event"] == "tool_call.result" and e["data"]["status"] == "denied"]
        assert "dev server already runs" in result["result"]


async def test_a_rule_of_a_persons_own_may_allow_it(own_db: Database, tmp_path: Path) -> None:
    own = PolicyRule(tool="terminal", decision="allow", profile="screen", commands=("npm run build",))
    turns = [turn(Call("terminal", {"command": "npm run build"})), *building()]
    async with studio(own_db, tmp_path, turns, settings=replace(SETTINGS, policy=(own, *SCREEN_POLICY))) as it:
        await it.asked()
        (result,) = told(it.model.requests[1].messages[-1])
        assert "npm: command not found" in result  # it was run: this sandbox knows no npm


async def test_a_follow_up_keeps_the_sandbox_and_is_told_what_was_said_and_made(db: Database, tmp_path: Path) -> None:
    async with studio(db, tmp_path, [*building("One"), *building("Two", title="Plans")]) as it:
        first = await it.asked("A pricing page")
        sandbox_id = (await it.now()).sandbox_id
        second = await it.asked("Call it Plans")
        assert (await it.now()).sandbox_id == sandbox_id
        assert len(it.provider.created) == 1
        assert "context.lost" not in [event["event"] for event in (*first, *second)]
        assert (await it.now()).title == "Plans"
        asked, answered, now = it.model.requests[2].messages
        assert (words(asked), now.role) == ("A pricing page", "user")
        assert "<files_summary>\n- app/page.tsx: the page\n</files_summary>" in words(answered)
        assert "Title: Pricing page" in words(now)
        assert words(now).endswith("Call it Plans")


async def test_the_prompt_of_all_turns_of_a_run_begins_alike_so_that_caches_hold(
    own_db: Database, tmp_path: Path
) -> None:
    turns = [turn(write(("components/plan.tsx", "export const a = 1;\n"))), *building()]
    async with studio(own_db, tmp_path, turns) as it:
        await it.asked()
        first, *later = it.model.requests
        for request in later:
            assert request.system == first.system
            assert request.messages[: len(first.messages)] == first.messages
            assert request.tools == first.tools
        assert "app/page.tsx" in words(first.messages[-1])
        assert "components/ui/: accordion, " in words(first.messages[-1])
        assert "components/plan.tsx" not in words(later[0].messages[0])


async def test_a_title_that_a_person_chose_stays(own_db: Database, tmp_path: Path) -> None:
    async with studio(own_db, tmp_path, building()) as it:
        await change_screen(it.services, it.owner, it.screen.id, ScreenPatch(title="Mine"))
        await it.asked()
        assert (await it.now()).title == "Mine"


async def test_a_picture_that_is_too_large_is_not_kept(own_db: Database, tmp_path: Path) -> None:
    noise = replace(look(), picture=(look().picture or b"") + bytes(8_000_000))
    async with studio(own_db, tmp_path, building(), looks=[noise]) as it:
        events = await it.asked()
        assert ended(events)["data"]["problems"] == []
        (notice,) = [part for part in (await it.answer()).parts if part.type == "notice"]
        assert "too large" in notice.text
        assert (await it.now()).picture_id is None


async def test_where_no_picture_can_be_taken_that_is_said_once(own_db: Database, tmp_path: Path) -> None:
    blind = look(picture=False, note="There is no Chromium on this machine, so no picture was taken.")
    async with studio(own_db, tmp_path, [*building(), *building("Two")], looks=[blind]) as it:
        events = await it.asked()
        assert ("picture", "skipped") in steps(events)
        (notice,) = [part for part in (await it.answer()).parts if part.type == "notice"]
        assert (notice.level, notice.code, notice.text) == ("info", "no_picture", blind.note)
        await it.asked("Again")
        assert [part for part in (await it.answer()).parts if part.type == "notice"] == []
        assert (await it.now()).problems == []


async def test_a_captured_element_is_told_whole_with_the_rule_to_replicate_it(own_db: Database, tmp_path: Path) -> None:
    asked = (
        "Like this one:\n\n[UNITSET_ELEMENT_CAPTURE]\nElement: button\nHTML:\n```html\n"
        '<button class="x">Buy</button>\n```\nCSS:\n```css\n.x { color: #3b82f6 }\n```\n[/UNITSET_ELEMENT_CAPTURE]'
    )
    async with studio(own_db, tmp_path, building()) as it:
        await it.asked(asked)
        heard = words(it.model.requests[0].messages[-1])
        assert '<button class="x">Buy</button>' in heard
        assert ".x { color: #3b82f6 }" in heard
        assert heard.rstrip().endswith("The goal is a pixel-perfect replica.")


async def test_a_cancel_in_the_middle_of_the_check_ends_the_compiler_and_keeps_the_work(
    own_db: Database, tmp_path: Path
) -> None:
    async with studio(own_db, tmp_path, building("Kept")) as it:
        it.compiler.gate = anyio.Event()
        started = await it.ask()
        await it.until(started.run_id, "step.completed")
        while not it.compiler.runs:
            await anyio.lowlevel.checkpoint()
        await cancel_run(it.services, it.owner, started.run_id)
        events = await it.events(started.run_id)
        assert ended(events)["event"] == "run.cancelled"
        assert ("check", "cancelled") in steps(events)
        assert b"Kept" in (await it.files())["app/page.tsx"]
        assert (await it.now()).title != "Pricing page"


async def test_an_answer_that_was_cut_is_remembered_by_the_files_it_had_written(
    own_db: Database, tmp_path: Path
) -> None:
    def choose(request: ModelRequest) -> Turn:
        number = sum(message.role == "assistant" for message in request.messages)
        cut = any("cut off" in words(message) for message in request.messages)
        return script[number] if not cut else turn(closing())

    script = [turn(write(("app/page.tsx", page("Half")))), turn(closing())]
    async with studio(own_db, tmp_path, ScriptedModel(choose)) as it:
        it.compiler.gate = anyio.Event()
        started = await it.ask()
        while not it.compiler.runs:
            await anyio.lowlevel.checkpoint()
        await cancel_run(it.services, it.owner, started.run_id)
        await it.events(started.run_id)
        it.compiler.gate = None
        it.model.requests.clear()
        script[:] = [turn("Nothing was said of it. " + closing())]
        await it.ask("Go on")
        await it.model.wait_requests(1)
        answered = words(it.model.requests[0].messages[1])
        assert "<files_summary>" in answered
        assert "app/page.tsx" in answered


async def test_followers_are_told_when_few_credits_are_left(own_db: Database, tmp_path: Path) -> None:
    async with studio(own_db, tmp_path, building(), price=20) as it:
        events = await it.asked()
        assert [event["data"] for event in events if event["event"] == "credit.low"] == [{"balance": 5}]
