"""Threads as people use them."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from outlast.base.errors import (
    EmptyMessage,
    Forbidden,
    InputTooLarge,
    MalformedInput,
    NotFound,
    ThreadArchived,
    ThreadBusy,
    UnknownProfile,
)
from outlast.base.ids import new_id
from outlast.db.database import Database, Tx
from outlast.kernel.apps.app import App
from outlast.kernel.apps.registry import only
from outlast.kernel.attachments import actions as attachments
from outlast.kernel.locks import actions as locks
from outlast.kernel.projects import actions as projects
from outlast.kernel.runs.tables import approvals, effects
from outlast.kernel.threads import actions as threads
from outlast.kernel.threads.tables import threads as thread_table
from outlast.kernel.threads.user_input import Draft
from tests.factories import Team, list_inbox, make_run, make_services
from tests.unit.base.test_image_formats import PNG


async def test_a_message_is_made_of_texts_and_the_projects_images(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    image = await attachments.upload_attachment(services, team.editor, team.project_id, "../cat.png", PNG)
    assert (image.name, image.media_type, image.width, image.height) == ("cat.png", "image/png", 640, 480)
    parts = [{"type": "image", "attachment_id": image.id}, {"type": "text", "text": "and that\x00"}]
    posted = await threads.post_message(services, team.editor, team.thread_id, Draft("look", parts, [image.id]))
    shown = [part.model_dump(exclude={"id", "step"}) for part in posted.parts]
    assert [part.get("text") or part["attachment_id"] for part in shown] == ["look", image.id, "and that", image.id]
    assert (shown[1]["width"], shown[1]["name"]) == (640, "cat.png")
    opened, file = await attachments.open_attachment(services, team.viewer, image.id)
    assert (opened, file.path.read_bytes()) == (image, PNG)


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (Draft(), EmptyMessage),
        (Draft(" \n\t"), EmptyMessage),
        (Draft("x" * 200_001), InputTooLarge),
        (Draft("é" * 100_001), InputTooLarge),
        (Draft("hello", images=["att_none"]), NotFound),
        (Draft(parts=[{"type": "video"}]), MalformedInput),
        (Draft(parts=[{"type": "text", "text": 7}]), MalformedInput),
    ],
)
async def test_a_message_that_cannot_be_is_refused_and_nothing_is_kept(
    db: Database, tmp_path: Path, draft: Draft, error: type[Exception]
) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    with pytest.raises(error):
        await threads.post_message(services, team.editor, team.thread_id, draft)
    assert len((await threads.list_messages(services, team.editor, team.thread_id)).items) == 1


async def test_too_many_images_and_images_of_another_project_are_refused(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    other = await projects.create_project(services, team.stranger, "Other")
    mine = await attachments.upload_attachment(services, team.editor, team.project_id, "a.png", PNG)
    foreign = await attachments.upload_attachment(services, team.stranger, other.id, "a.png", PNG)
    with pytest.raises(InputTooLarge, match="9 images"):
        await threads.post_message(services, team.editor, team.thread_id, Draft(images=[mine.id] * 9))
    with pytest.raises(NotFound):
        await threads.post_message(services, team.editor, team.thread_id, Draft(images=[foreign.id]))


async def test_an_archived_thread_is_hidden_found_and_closed_until_it_is_brought_back(
    db: Database, tmp_path: Path
) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    assert (await threads.archive_thread(services, team.editor, team.thread_id)).status == "archived"
    assert (await threads.list_threads(services, team.viewer, team.project_id)).items == []
    found = await threads.list_threads(services, team.viewer, team.project_id, query="first")
    assert [item.id for item in found.items] == [team.thread_id]
    with pytest.raises(ThreadArchived):
        await threads.post_message(services, team.editor, team.thread_id, Draft("hello"))
    fork = await threads.fork_thread(services, team.editor, team.thread_id)
    assert (fork.status, fork.title) == ("open", 'Fork of "first message"')
    await threads.unarchive_thread(services, team.editor, team.thread_id)
    await threads.post_message(services, team.editor, team.thread_id, Draft("hello"))


async def test_a_thread_with_a_run_is_neither_archived_nor_deleted(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)

    def run(tx: Tx) -> str:
        run_id = make_run(tx, team.thread_id, team.owner, status="awaiting_approval", leg="parked")
        tx.execute(sa.update(thread_table).values(active_run_id=run_id))
        return run_id

    run_id = await db.write(run)
    for act in (threads.archive_thread, threads.delete_thread):
        with pytest.raises(ThreadBusy) as busy:
            await act(services, team.owner, team.thread_id)
        assert busy.value.fields["active_run_id"] == run_id
    with pytest.raises(ThreadBusy, match="1 runs"):
        await projects.delete_project(services, team.owner, team.project_id)


async def test_a_fork_is_possible_while_somebody_else_drives(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    await locks.take_lock(services, team.owner, team.thread_id)
    fork = await threads.fork_thread(services, team.editor, team.thread_id, title="Mine")
    view = await threads.open_thread(services, team.viewer, fork.id)
    assert (view["title"], view["lock"], view["project_role"]) == ("Mine", None, "viewer")
    assert view["lineage"] == [{"id": team.thread_id, "title": "first message"}]


async def test_a_thread_is_made_with_what_it_is_about(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    anchor = {"type": "quote", "text": "these words"}
    with only(App(name="quotes", anchors=["quote"])):
        made = await threads.create_thread(services, team.editor, team.project_id, title=" Ask  agent ", anchor=anchor)
    assert (made.title, made.anchor, made.run_status) == ("Ask agent", anchor, "idle")
    with pytest.raises(UnknownProfile):
        await threads.create_thread(services, team.editor, team.project_id, profile="poet")
    with pytest.raises(MalformedInput):
        await threads.create_thread(services, team.editor, team.project_id, title="  ")


async def test_the_lock_goes_only_to_those_who_may_drive(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)
    await locks.take_lock(services, team.owner, team.thread_id)
    with pytest.raises(Forbidden):
        await locks.hand_over_lock(services, team.owner, team.thread_id, team.viewer.user_id)
    with pytest.raises(NotFound):
        await locks.hand_over_lock(services, team.owner, team.thread_id, team.stranger.user_id)
    given = await locks.hand_over_lock(services, team.owner, team.thread_id, team.editor.user_id)
    assert given.holder_name == "Emil"


async def test_the_inbox_shows_what_waits_for_whoever_may_decide(db: Database, tmp_path: Path) -> None:
    services = make_services(db, tmp_path)
    team = await db.write(Team)

    def wait(tx: Tx) -> None:
        run_id = make_run(tx, team.thread_id, team.owner, status="awaiting_approval", leg="parked")
        asked = '{"questions": [{"id": "q1", "question": "Which colour?"}, {"id": "q2", "question": "How many?"}]}'
        for ordinal, (kind, tool, arguments, status) in enumerate(
            [
                ("approval", "terminal", '{"command":"rm -rf build"}', "open"),
                ("question", "ask_user", asked, "open"),
                ("approval", "terminal", "{}", "denied"),
            ]
        ):
            effect = {"id": new_id("effect"), "run_id": run_id, "ordinal": ordinal, "step": 1, "kind": "tool"}
            tx.execute(sa.insert(effects).values(**effect, status="waiting", created_at=tx.now))
            approval = {"id": new_id(kind), "run_id": run_id, "thread_id": team.thread_id, "effect_id": effect["id"]}
            tx.execute(
                sa.insert(approvals).values(
                    **approval, kind=kind, status=status, tool=tool, arguments=arguments, created_at=tx.now
                )
            )

    await db.write(wait)
    await locks.take_lock(services, team.owner, team.thread_id)
    await locks.request_lock(services, team.editor, team.thread_id)
    seen = [(item.kind, item.text) for item in await list_inbox(services, team.owner)]
    assert seen == [
        ("handover", "Emil would like to drive this thread."),
        ("question", "Which colour? How many?"),
        ("approval", 'terminal {"command":"rm -rf build"}'),
    ]
    assert [item.kind for item in await list_inbox(services, team.editor)] == ["question", "approval"]
    assert await list_inbox(services, team.viewer) == []
    assert await list_inbox(services, team.stranger) == []
    with pytest.raises(NotFound):
        await list_inbox(services, team.stranger, team.project_id)
