"""What nobody names goes, what somebody needs stays."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta

import pytest
import sqlalchemy as sa

from outlast.base.errors import NotFound
from outlast.base.image_formats import Image
from outlast.db.database import Tx
from outlast.kernel.attachments.store import add_attachment, add_piece, add_upload
from outlast.kernel.attachments.tables import uploads
from outlast.kernel.runs.tables import runs
from outlast.kernel.sandboxes.checkpoints import store
from outlast.kernel.sandboxes.store import give_up
from outlast.kernel.sandboxes.tables import packed_files
from outlast_sandbox.checkpoints.tree import MANY, header
from tests.store.kernel.sandboxes.checkpoints.conftest import Desk


def blobs_of(desk: Desk) -> set[str]:
    return {blob.name for blob in desk.blobs.stored()}


def age(desk: Desk) -> None:
    """Everything stored was stored long ago."""
    for path in (desk.data_dir / "blobs").rglob("*"):
        if path.is_file():
            os.utime(path, (0, 0))


async def test_a_thread_that_is_deleted_takes_its_files_along_and_no_others(both: Desk) -> None:
    image = both.blobs.put(b"an image")

    def attach(tx: Tx) -> None:
        picture = Image("image/png", 1, 1)
        add_attachment(tx, both.project_id, both.team.owner.user_id, "a.png", picture, 8, image)

    await both.db.write(attach)
    both.write(a_txt="one", b_txt="two")
    await both.take()
    age(both)
    assert (await both.keeper.collect()).blobs == 0
    await both.db.write(give_up, both.project_id, both.thread_id)
    collected = await both.keeper.collect()
    assert collected.blobs == 2  # the manifest, and both files in one
    assert blobs_of(both) == {image}

    def known(tx: Tx) -> int:
        return int(tx.execute(sa.select(sa.func.count()).select_from(packed_files)).scalar_one())

    assert await both.db.read(known) == 0


async def test_what_was_stored_just_now_stays_though_nobody_names_it_yet(desk: Desk) -> None:
    fresh = desk.blobs.put(b"an upload whose row comes next")
    await desk.keeper.collect()
    assert blobs_of(desk) == {fresh}


async def test_the_pieces_of_an_upload_stay_for_a_day(both: Desk) -> None:
    team, piece = both.team, both.blobs.put(b"the beginning")

    def begin(tx: Tx) -> None:
        upload = add_upload(tx, both.project_id, team.owner.user_id, "a.bin", 13)
        add_piece(tx, upload.id, 0, piece, 13)

    await both.db.write(begin)
    age(both)
    assert (await both.keeper.collect()).blobs == 0
    await both.db.write(lambda tx: tx.update(uploads, {}, created_at=tx.now - timedelta(days=1, seconds=1)))
    assert (await both.keeper.collect()).blobs == 1
    assert blobs_of(both) == set()


async def test_what_is_stored_again_counts_as_new(desk: Desk) -> None:
    name = desk.blobs.put(b"old")
    age(desk)
    assert desk.blobs.put(b"old") == name
    await desk.keeper.collect()
    assert blobs_of(desk) == {name}


async def test_one_that_is_kept_while_it_is_being_removed_comes_back(desk: Desk) -> None:
    name = desk.blobs.put(b"old")
    assert not desk.blobs.remove_unused(name, before=0)
    assert desk.blobs.get(name) == b"old"
    assert desk.blobs.remove_unused(name, before=2**40)
    with pytest.raises(NotFound):
        desk.blobs.get(name)
    assert not desk.blobs.keep(name)


async def test_those_in_between_go_with_their_runs_record_and_what_stays_can_still_be_read(both: Desk) -> None:
    run_id = await both.run(leg="ended", status="completed")
    both.write(a_txt="one", b_txt="same")
    between = await both.take(run_id)
    both.write(a_txt="two")
    answer = await both.take(run_id)
    await both.answered(answer)
    both.write(a_txt="three")
    newest = await both.take()
    age(both)
    await both.keeper.collect()
    assert await both.ids() == [between.id, answer.id, newest.id]
    await both.db.write(lambda tx: tx.execute(sa.update(runs).values(cleaned=True)))
    assert (await both.keeper.collect()).checkpoints == 1
    assert await both.ids() == [answer.id, newest.id]
    for kept in (answer, newest):
        await both.keeper.restore(kept)
        assert both.read()["b.txt"] == "same"


async def test_what_a_kept_checkpoint_is_written_against_stays(desk: Desk) -> None:
    for number in range(MANY):
        desk.write(**{f"f{number}": f"content {number}"})
    run_id = await desk.run(leg="ended", status="completed", cleaned=True)
    first = await desk.take(run_id)
    desk.write(f0="changed")
    second = await desk.take()
    assert header(desk.blobs.get(second.tree)).base == first.tree
    age(desk)
    assert (await desk.keeper.collect()).checkpoints == 1
    shutil.rmtree(desk.folder)
    await desk.another().bring_back(desk.workspace_id)
    there = desk.read()
    assert (len(there), there["f0"], there["f1"]) == (MANY, "changed", "content 1")


async def test_one_of_no_run_goes_after_its_time_unless_it_is_the_newest(desk: Desk) -> None:
    desk.write(a_txt="one")
    await desk.take()
    desk.write(a_txt="two")
    second = await desk.take()
    await desk.pass_time(timedelta(days=40))
    await desk.keeper.collect()
    assert await desk.ids() == [second.id]


async def test_nothing_is_removed_while_a_manifest_is_missing(desk: Desk) -> None:
    desk.write(a_txt="one")
    await desk.take()
    lonely = desk.blobs.put(b"nobody names me")
    age(desk)

    def spoil(tx: Tx) -> None:
        new = store.NewCheckpoint(desk.workspace_id, "person", "0" * 64, 0, 0)
        store.add(tx, new, None)

    await desk.db.write(spoil)
    with pytest.raises(NotFound):
        await desk.keeper.collect()
    assert lonely in blobs_of(desk)
