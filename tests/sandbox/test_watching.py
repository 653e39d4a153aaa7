"""Watching folders of a real sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest

from outlast_sandbox.errors import NotFound, PathRefused, SandboxLost
from outlast_sandbox.interactive import FileChangeSeen, WatchKind
from outlast_sandbox.interface import Command
from outlast_sandbox.providers.local.sandbox import LocalSandbox

pytestmark = pytest.mark.sandbox

DEADLINE_S = 60


class Shell:
    """Runs scripts in the sandbox, one after the other."""

    def __init__(self, box: LocalSandbox) -> None:
        self._box = box
        self._count = 0

    async def __call__(self, script: str) -> None:
        self._count += 1
        result = await self._box.run(Command(f"eff_shell{self._count}", 1, script))
        assert result.exit_code == 0, result.output


@pytest.fixture
def shell(box: LocalSandbox) -> Shell:
    return Shell(box)


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def until(changes: AsyncIterator[FileChangeSeen], kind: str, path: str) -> list[tuple[str, str]]:
    """The changes up to and with this one."""
    seen: list[tuple[str, str]] = []
    with anyio.fail_after(DEADLINE_S):
        async for change in changes:
            seen.append((change.kind, change.path))
            if seen[-1] == (kind, path):
                return seen
    raise AssertionError(f"the watch ended after {seen}")


async def test_files_that_are_made_written_renamed_and_removed_are_told(box: LocalSandbox, shell: Shell) -> None:
    await shell("mkdir d")
    async with box.files.watch("d") as changes:
        await shell("echo one > d/a; chmod 600 d/a; mv d/a d/b; rm d/b; mkdir d/e; rmdir d/e; touch d/end")
        assert await until(changes, "create", "end") == [
            ("create", "a"),
            ("write", "a"),
            ("chmod", "a"),
            ("rename", "a"),
            ("create", "b"),
            ("remove", "b"),
            ("create", "e"),
            ("remove", "e"),
            ("create", "end"),
        ]


async def test_a_file_written_as_a_whole_shows_as_a_write_and_nothing_of_the_way(
    box: LocalSandbox, shell: Shell
) -> None:
    await shell("mkdir d")
    async with box.files.watch("/workspace/d") as changes:
        await box.files.write("d/a", pieces(b"1"))
        assert await until(changes, "write", "a") == [("create", "a"), ("write", "a")]
        await box.files.write("d/a", pieces(b"2"), mode=0o755, metadata={"x": "y"})
        assert await until(changes, "write", "a") == [("write", "a")]
        await box.write_files([("d/b", b"1")])
        assert await until(changes, "write", "b") == [("create", "b"), ("write", "b")]


async def test_only_the_folder_itself_unless_asked_for_all_below(box: LocalSandbox, shell: Shell) -> None:
    await shell("mkdir -p d/sub")
    async with box.files.watch("d") as flat, box.files.watch("d", recursive=True) as deep:
        await shell("mkdir d/sub/x d/end")
        assert await until(flat, "create", "end") == [("create", "end")]
        assert await until(deep, "create", "end") == [("create", "sub/x"), ("create", "end")]


async def test_folders_that_come_later_are_watched_with_all_that_is_in_them(box: LocalSandbox, shell: Shell) -> None:
    await shell("mkdir d; mkdir -p elsewhere/p; echo x > elsewhere/p/q")
    async with box.files.watch("d", recursive=True) as changes:
        await shell("mkdir -p d/a/b/c; echo x > d/a/b/c/file; mv elsewhere d/moved")
        seen = await until(changes, "write", "moved/p/q")
        assert {("create", "a"), ("create", "a/b"), ("create", "a/b/c"), ("create", "a/b/c/file")} <= set(seen)
        assert ("write", "a/b/c/file") in seen
        await shell("echo more >> d/a/b/c/file; echo more >> d/moved/p/q")
        seen = await until(changes, "write", "moved/p/q")
        assert ("write", "a/b/c/file") in seen


async def test_below_a_renamed_folder_changes_have_its_new_name(box: LocalSandbox, shell: Shell) -> None:
    await shell("mkdir -p d/old/sub")
    async with box.files.watch("d", recursive=True) as changes:
        await shell("mv d/old d/new; touch d/new/sub/x")
        assert await until(changes, "create", "new/sub/x") == [
            ("rename", "old"),
            ("create", "new"),
            ("create", "new/sub/x"),
        ]
        await shell("mkdir -p d/old/sub; touch d/old/sub/y")
        seen = await until(changes, "create", "old/sub/y")
        assert ("create", "new/sub/y") not in seen


async def test_a_folder_that_was_moved_away_is_watched_no_more(box: LocalSandbox, shell: Shell) -> None:
    await shell("mkdir -p d/sub away")
    async with box.files.watch("d", recursive=True) as changes:
        await shell("mv d/sub away/sub")
        assert await until(changes, "rename", "sub") == [("rename", "sub")]
        await shell("mkdir d/sub; sleep 0.3; mkdir away/sub/x d/sub/y")
        assert await until(changes, "create", "sub/y") == [("create", "sub"), ("create", "sub/y")]


@pytest.mark.parametrize(("script", "kind"), [("rm -r d", "remove"), ("mv d e", "rename")])
async def test_the_watch_ends_with_its_folder(box: LocalSandbox, shell: Shell, script: str, kind: WatchKind) -> None:
    await shell("mkdir d")
    async with box.files.watch("d", recursive=True) as changes:
        await shell(script)
        with anyio.fail_after(DEADLINE_S):
            seen = [change async for change in changes]
    assert seen[-1] == FileChangeSeen(kind, "")


async def test_more_changes_than_are_kept_are_told_as_an_overflow_and_the_watch_goes_on(
    box: LocalSandbox, shell: Shell
) -> None:
    await shell("mkdir d")
    async with box.files.watch("d", recursive=True) as changes:
        await shell("cd d; seq 3000 | xargs touch; seq 3000 | xargs rm; mkdir later")
        await until(changes, "overflow", "")
        await shell("sleep 0.2; touch d/later/x; touch d/end")
        seen = await until(changes, "create", "end")
    assert ("create", "later/x") in seen


async def test_several_may_watch_and_leave(box: LocalSandbox, shell: Shell) -> None:
    await shell("mkdir d")
    async with box.files.watch("d") as first:
        async with box.files.watch("d") as second:
            await shell("mkdir d/a")
            assert await until(second, "create", "a") == [("create", "a")]
        await shell("mkdir d/b")
        assert await until(first, "create", "b") == [("create", "a"), ("create", "b")]


async def test_what_is_no_folder_cannot_be_watched(box: LocalSandbox, shell: Shell) -> None:
    await shell("touch f")
    with pytest.raises(NotFound):
        await box.files.watch("missing").__aenter__()
    with pytest.raises(PathRefused):
        await box.files.watch("f").__aenter__()


async def test_a_watch_goes_on_after_a_freeze_and_ends_with_the_sandbox(box: LocalSandbox, shell: Shell) -> None:
    await shell("mkdir d")
    async with box.files.watch("d") as changes:
        await box.freeze()
        await box.thaw()
        await shell("touch d/a")
        await until(changes, "create", "a")
        await box.kill()
        with pytest.raises(SandboxLost):
            await until(changes, "create", "never")
