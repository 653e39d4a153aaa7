"""A folder that holds more than its checkpoint is never replaced without being kept; and a workspace can begin anew."""

from __future__ import annotations

import os
import time
from datetime import timedelta

import pytest

from outlast.base.errors import WorkspaceUnreadable
from outlast_sandbox.checkpoints.replaced_folders import KEPT
from tests.store.kernel.sandboxes.checkpoints.conftest import Desk


def kept_in(desk: Desk) -> list[dict[str, str]]:
    return [desk.read(one) for one in sorted((desk.data_dir / KEPT / desk.workspace_id).glob("*"))]


async def test_a_newer_folder_of_a_node_whose_id_was_lost_is_kept_aside(desk: Desk) -> None:
    """A restore without the file `node` replaced 36 lines of a log by the one that the last checkpoint had."""
    desk.write(live_log="1")
    await desk.take()
    await desk.pass_time(timedelta(minutes=1))
    desk.write(live_log="36")
    await desk.another("nod_new").bring_back(desk.workspace_id)
    assert desk.read() == {"live.log": "1"}
    assert kept_in(desk) == [{"live.log": "36"}]


async def test_a_folder_that_has_nothing_newer_is_replaced_and_not_kept(desk: Desk) -> None:
    desk.write(a_txt="one")
    os.utime(desk.folder / "a.txt", (time.time() - 60, time.time() - 60))
    await desk.take()
    await desk.another("nod_new").bring_back(desk.workspace_id)
    assert desk.read() == {"a.txt": "one"}
    assert kept_in(desk) == []


async def test_a_workspace_whose_stored_files_are_gone_can_begin_anew(desk: Desk) -> None:
    """Each tool call failed with the same words for ever, and there was no way out."""
    desk.write(a_txt="one")
    before = await desk.take()
    for blob in list(desk.blobs.stored()):
        desk.blobs.remove_unused(blob.name, before=2**40)
    desk.keeper = desk.another("nod_new")
    with pytest.raises(WorkspaceUnreadable) as told:
        await desk.keeper.bring_back(desk.workspace_id)
    assert "workspace/reset" in told.value.hint
    empty = await desk.keeper.start_empty(desk.workspace_id)
    assert (empty.files, empty.id == before.id) == (0, False)
    await desk.keeper.bring_back(desk.workspace_id)
    assert desk.read() == {}
    desk.write(b_txt="two")
    assert (await desk.take()).files == 1


async def test_what_a_folder_still_holds_is_saved_before_it_is_emptied(desk: Desk) -> None:
    desk.write(a_txt="one")
    await desk.take()
    for blob in list(desk.blobs.stored()):
        desk.blobs.remove_unused(blob.name, before=2**40)
    desk.keeper = desk.another()
    await desk.keeper.start_empty(desk.workspace_id)
    assert desk.read() == {}
    _, saved, *_ = [one async for one in _checkpoints(desk)]
    await desk.keeper.restore(saved)
    assert desk.read() == {"a.txt": "one"}


async def _checkpoints(desk: Desk):
    from outlast.kernel.sandboxes.checkpoints import store

    for one in await desk.db.read(store.list_of, desk.workspace_id, None, 10):
        yield one
