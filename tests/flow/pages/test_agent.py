"""A page's agent without sandboxes: its prompt, its lines, what a run leaves behind. On both databases."""

from __future__ import annotations

from pathlib import Path

from outlast.apps.pages.actions import rename_page
from outlast.base.errors import ModelRejected
from outlast.db.database import Database
from outlast.kernel.models.protocol import Usage
from outlast.testing.scripted_model import Call, Fail, turn
from tests.flow.harness import told
from tests.flow.pages.agent_rig import asked_with, full, lines, named, page_agent, patches, results, summary

LIST = '<main id="app"><h1>Open issues</h1><ul id="list"><li id="i1">One</li></ul></main>'


async def test_a_run_writes_the_page_and_leaves_title_and_memory(db: Database, tmp_path: Path) -> None:
    wrote = lines(full(LIST), {"type": "stats", "issues": 1}, summary("show my issues → listed one issue"))
    usage = Usage(input_tokens=1000, output_tokens=50, cached_tokens=400)
    async with page_agent(db, tmp_path, [turn(wrote, usage=usage)]) as it:
        events = await it.asked("show my issues")
        page = await it.now()
        assert page.html == LIST
        assert page.title == "Open issues"
        assert page.state == "ready"
        assert await it.memories() == ["show my issues → listed one issue"]
        assert await it.history() == ["listed one issue"]
        (stats,) = named(events, "page.stats")
        assert stats["cached_share"] == 0.4
        assert stats["told"] == {"issues": 1}
        assert (stats["version"], stats["elements"], stats["replaced"]) == (1, 4, 1)
        assert events[-2]["event"] == "run.completed"
        (part,) = named(events, "message.created")[0]["message"]["parts"]
        assert (part["type"], part["base_version"], part["version"], part["whole"]) == ("page", 0, 1, True)


async def test_bad_lines_are_told_to_the_model_in_the_same_run(db: Database, tmp_path: Path) -> None:
    wrote = lines(full(LIST), patches({"op": "text", "at": "#gone", "text": "x"}), '{"type":"patches","patches":[{"')
    mended = lines(patches({"op": "text", "at": "#i1", "text": "Uno"}), summary("x → y"))
    async with page_agent(db, tmp_path, [turn(wrote), turn(mended)]) as it:
        events = await it.asked()
        assert events[-2]["event"] == "run.completed"
        assert "Uno" in (await it.now()).html
        last = it.model.requests[1].messages[-1]
        text = "".join(getattr(piece, "text", "") for piece in last.pieces)
        assert "#gone" in text
        assert "was rejected" in text
        assert (await it.now()).state == "ready"


async def test_every_turn_of_a_run_is_asked_with_the_same_beginning(db: Database, tmp_path: Path) -> None:
    """The page changes while the run writes; what it was asked with does not, so that a provider's cache holds."""
    wrote = lines(full(LIST), patches({"op": "remove", "at": "#gone"}))
    async with page_agent(db, tmp_path, [turn(wrote), turn(lines(summary("a → b")))]) as it:
        await it.asked()
        first, second = it.model.requests
        assert first.system == second.system
        assert first.tools == second.tools
        assert second.messages[: len(first.messages)] == first.messages


async def test_a_second_run_is_told_the_page_and_what_happened_before(db: Database, tmp_path: Path) -> None:
    wrote = lines("Here they are.", full(LIST), summary("show my issues → listed one issue"))
    async with page_agent(db, tmp_path, [turn(wrote), turn(lines(summary("c → d")))]) as it:
        await it.asked("show my issues")
        await it.asked("1. Action: refresh Data: {}")
        assert asked_with(it.model.requests[1]) == (
            f"HTML:\n{LIST}\n\n"
            '[RECENT CHANGES]\n1. show my issues → listed one issue; you said: "Here they are."\n\n'
            "[NOW]\n1. Action: refresh Data: {}"
        )


async def test_older_requests_that_resemble_this_one_are_recalled(db: Database, tmp_path: Path) -> None:
    asked = ["add a slack channel list", *(f"recolour row {n}" for n in range(7)), "post to slack"]
    turns = [turn(lines(summary(f"{text} → done it"))) for text in asked]
    async with page_agent(db, tmp_path, turns) as it:
        for text in asked:
            await it.asked(text)
        last = asked_with(it.model.requests[-1])
        recent, _, past = last.partition("[RELEVANT PAST CONTEXT]\n")
        assert past.startswith("- add a slack channel list → done it\n")
        assert "slack" not in recent
        assert "recolour row 6" in recent


async def test_a_run_without_a_summary_is_remembered_by_what_it_did(db: Database, tmp_path: Path) -> None:
    async with page_agent(db, tmp_path, [turn(lines(full(LIST), "There is one."))]) as it:
        await it.asked("show my issues")
        assert await it.memories() == ['"show my issues" → rewrote the page; There is one.']


async def test_what_a_run_remembers_is_embedded_after_it_and_a_failed_run_leaves_nothing(
    db: Database, tmp_path: Path
) -> None:
    refused = Fail(ModelRejected("The model does not like this."))
    async with page_agent(db, tmp_path, [turn(lines(full(LIST), summary("a → b")), refused)]) as it:
        events = await it.asked()
        assert events[-2]["event"] == "run.error"
        assert (it.embeds, await it.memories()) == ([], [])
        assert (await it.now()).title == "Untitled page"
        assert len(named(events, "page.stats")) == 1, "the figures of a failed run are told too"
        it.model.add(turn(lines(summary("c → d"))))
        started = await it.ask("again")
        await it.events(started.run_id)
        assert it.embeds == [started.run_id]
        recent = asked_with(it.model.requests[-1])
        assert '1. "Show my issues" → rewrote the page (failed in the middle)' in recent


async def test_without_sandboxes_there_are_only_tools_that_need_none(db: Database, tmp_path: Path) -> None:
    async with page_agent(db, tmp_path, [turn(lines(full(LIST)))]) as it:
        await it.asked()
        (request,) = it.model.requests
        names = [tool.name for tool in request.tools]
        assert names == ["search_docs", "search_files", "read_file", "read_page", "ask_user"]
        assert "has no sandbox" in request.system
        assert told(request.messages[0]) == []


async def test_an_element_is_read_as_it_is_now_and_long_ones_in_pieces(db: Database, tmp_path: Path) -> None:
    long = "".join(f'<li id="n{n}">{"x" * 90}</li>' for n in range(300))
    pieces: list[dict[str, object]] = [{}, {"after": 16_000}, {"at": "#gone"}]
    turns = [
        turn(lines(full(f"<ul>{long}</ul>")), Call("read_page", {"at": "#n7"})),
        *(turn(Call("read_page", piece)) for piece in pieces),
        turn(lines(summary("a → b"))),
    ]
    async with page_agent(db, tmp_path, turns) as it:
        one, first, second, gone = results(await it.asked())
        assert one == f'<li id="n7">{"x" * 90}</li>'
        assert first.endswith("more characters: after=16000]")
        assert first.partition("\n[")[0] + second.partition("\n[")[0] == (await it.now()).html[:32_000]
        assert gone == "There is no element #gone on the page."


async def test_announced_modules_without_a_sandbox_end_the_run_with_a_problem(db: Database, tmp_path: Path) -> None:
    wrote = lines(full(LIST), {"type": "code_modules", "modules": [{"path": "lib/a.ts", "description": "x"}]})
    async with page_agent(db, tmp_path, [turn(wrote), turn(lines(summary("a → b")))]) as it:
        events = await it.asked()
        assert events[-2]["data"]["problems"] != []
        assert (await it.now()).state == "problems"
        assert await it.modules() == []


async def test_a_persons_title_stays(db: Database, tmp_path: Path) -> None:
    async with page_agent(db, tmp_path, [turn(lines(full(LIST, title="Issues")))]) as it:
        await rename_page(it.services, it.owner, it.page.id, "My own")
        await it.asked()
        assert (await it.now()).title == "My own"
