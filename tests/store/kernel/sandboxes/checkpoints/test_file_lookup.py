"""Which files a workspace holds: by its folder, else by its newest checkpoint; nothing is woken."""

from __future__ import annotations

import os
import shutil

from tests.store.kernel.sandboxes.checkpoints.conftest import Desk

ASKED = ("a.txt", "lib/b.txt", "lib", "gone.txt", "../outside.txt", "/etc/passwd", "link.txt", "")


async def test_files_of_the_folder_count_and_nothing_that_a_link_leads_to(desk: Desk) -> None:
    desk.write(a_txt="one", lib__b_txt="two")
    (desk.folder.parent / "outside.txt").write_text("not ours")
    os.symlink("/etc/passwd", desk.folder / "link.txt")
    assert await desk.keeper.holds(desk.workspace_id, ASKED) == {"a.txt", "lib/b.txt"}


async def test_what_has_changed_since_the_checkpoint_counts(both: Desk) -> None:
    both.write(a_txt="one", lib__b_txt="two")
    await both.take()
    (both.folder / "a.txt").unlink()
    assert await both.keeper.holds(both.workspace_id, ASKED) == {"lib/b.txt"}


async def test_without_the_folder_the_newest_checkpoint_speaks(both: Desk) -> None:
    both.write(a_txt="one", lib__b_txt="two")
    await both.take()
    shutil.rmtree(both.folder)
    assert await both.keeper.holds(both.workspace_id, ASKED) == {"a.txt", "lib/b.txt"}


async def test_of_files_on_another_machine_the_checkpoint_speaks(desk: Desk) -> None:
    desk.write(a_txt="one")
    await desk.take()
    desk.write(lib__b_txt="two")
    elsewhere = desk.another("nod_other")
    assert await elsewhere.holds(desk.workspace_id, ASKED) == {"a.txt"}
    hosted = desk.another(local=False)
    assert await hosted.holds(desk.workspace_id, ASKED) == {"a.txt"}


async def test_a_workspace_without_files_or_that_is_gone_holds_nothing(desk: Desk) -> None:
    assert await desk.keeper.holds(desk.workspace_id, ASKED) == frozenset()
    assert await desk.keeper.holds("wsp_gone", ASKED) == frozenset()
