"""Files anywhere in a real sandbox."""

from __future__ import annotations

import hashlib
import os
import textwrap
from collections.abc import AsyncIterator
from dataclasses import replace

import anyio
import pytest

from outlast_sandbox.errors import ArgumentsInvalid, Conflict, DiskFull, NotFound, PathRefused
from outlast_sandbox.interface import Command, SandboxSpec
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.local.sandbox import LocalSandbox

pytestmark = pytest.mark.sandbox

HOME = "/home/user"


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def read(box: LocalSandbox, path: str, offset: int = 0) -> bytes:
    return b"".join([chunk async for chunk in box.files.read(path, offset)])


async def names(box: LocalSandbox, path: str, depth: int = 1) -> list[str]:
    return [facts.path for facts in await box.files.list(path, depth)]


@pytest.mark.parametrize("folder", ["/workspace", HOME, "/tmp"])
async def test_what_is_written_is_read_and_its_facts_are_told(box: LocalSandbox, folder: str) -> None:
    written = await box.files.write(f"{folder}/a/b.txt", pieces(b"hello ", b"", b"you"))
    assert (written.path, written.kind, written.size, written.mode) == (f"{folder}/a/b.txt", "file", 9, 0o644)
    assert (written.owner, written.group, written.symlink_target) == ("user", "user", None)
    assert await box.files.stat(f"{folder}/a/b.txt") == written
    assert await read(box, f"{folder}/a/b.txt") == b"hello you"
    assert await read(box, f"{folder}/a/b.txt", offset=6) == b"you"
    assert await read(box, f"{folder}/a/b.txt", offset=100) == b""
    assert await names(box, f"{folder}/a") == [f"{folder}/a/b.txt"]


async def test_a_relative_path_lies_in_the_workspace(box: LocalSandbox) -> None:
    await box.files.write("x.txt", pieces(b"x"))
    assert (await box.files.stat("x.txt")).path == "/workspace/x.txt"
    assert await box.read_file("x.txt", 10) == b"x"


async def test_files_of_100_megabytes_are_streamed_both_ways(local: LocalProvider, spec: SandboxSpec) -> None:
    box = await local.create(replace(spec, limits=replace(spec.limits, disk_bytes=256 * 1024**2)))
    block, count, given, seen = os.urandom(1_000_003), 100, hashlib.sha256(), hashlib.sha256()

    async def blocks() -> AsyncIterator[bytes]:
        for _ in range(count):
            given.update(block)
            yield block

    assert (await box.files.write("big.bin", blocks())).size == count * len(block)
    largest = 0
    async for chunk in box.files.read("big.bin"):
        largest = max(largest, len(chunk))
        seen.update(chunk)
    assert seen.hexdigest() == given.hexdigest()
    assert largest <= 1024 * 1024
    peak = await box.run(Command("eff_1", 1, "grep VmHWM /proc/1/status | tr -dc 0-9"))
    assert int(peak.output) < 60_000, "the agent held more than some pieces"


async def test_a_write_that_is_given_up_leaves_the_old_file_and_nothing_else(box: LocalSandbox) -> None:
    await box.files.write("a.txt", pieces(b"old"))
    begun = anyio.Event()

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 2_000_000
            begun.set()
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(box.files.write, "a.txt", endless())
        await begun.wait()
        tasks.cancel_scope.cancel()
    alone = 'until [ "$(ls -A)" = a.txt ]; do sleep 0.01; done'
    assert (await box.run(Command("eff_1", 1, alone))).exit_code == 0
    assert await read(box, "a.txt") == b"old"


async def test_a_file_is_replaced_at_once_keeping_its_mode(box: LocalSandbox) -> None:
    await box.files.write("run.sh", pieces(b"#!/bin/sh\necho first\n"), mode=0o755)
    await box.run(Command("eff_1", 1, "exec 3<run.sh; sleep 1000 <&3 &"))
    await box.files.write("run.sh", pieces(b"#!/bin/sh\necho second\n"))
    assert (await box.files.stat("run.sh")).mode == 0o755
    assert (await box.run(Command("eff_2", 1, "./run.sh"))).output == "second\n"


@pytest.mark.parametrize("folder", ["/workspace", HOME])
async def test_metadata_is_kept_with_the_file_until_it_is_replaced(box: LocalSandbox, folder: str) -> None:
    path = f"{folder}/a.txt"
    metadata = {"author": "somebody", "e2b.note": "an é"}
    assert (await box.files.write(path, pieces(b"1"), metadata=metadata)).metadata == metadata
    assert (await box.files.write(path, pieces(b"2"))).metadata == metadata
    moved = await box.files.move(path, f"{folder}/b.txt")
    assert moved.metadata == metadata
    assert [facts.metadata for facts in await box.files.list(folder)] == [metadata]
    assert (await box.files.write(f"{folder}/b.txt", pieces(b"3"), metadata={})).metadata == {}


async def test_metadata_that_is_too_large_is_refused_and_nothing_written(box: LocalSandbox) -> None:
    with pytest.raises(ArgumentsInvalid):
        await box.files.write("a.txt", pieces(b"1"), metadata={"x": "y" * 200_000})
    assert await names(box, "/workspace") == []


async def test_a_folder_is_listed_to_a_depth_links_are_told_and_not_followed(box: LocalSandbox) -> None:
    await box.run(
        Command("eff_1", 1, "mkdir -p d/e/f; echo x > d/e/g; ln -s e d/link; ln -s nowhere d/lost; mkfifo d/pipe")
    )
    assert await names(box, "/workspace") == ["/workspace/d"]
    found = {facts.path.removeprefix("/workspace/d/"): facts for facts in await box.files.list("d", depth=5)}
    assert list(found) == ["e", "e/f", "e/g", "link", "lost", "pipe"]
    assert [facts.kind for facts in found.values()] == [
        "directory", "directory", "file", "symlink", "symlink", "other",
    ]  # fmt: skip
    assert found["link"].symlink_target == "/workspace/d/e"
    assert found["lost"].symlink_target == "/workspace/d/nowhere"
    assert await names(box, "d/link") == ["/workspace/d/link/f", "/workspace/d/link/g"]


async def test_thousands_of_files_are_listed_in_order(box: LocalSandbox) -> None:
    await box.run(Command("eff_1", 1, "mkdir many; cd many; seq -w 1 2345 | xargs touch"))
    assert await names(box, "many") == [f"/workspace/many/{number:04}" for number in range(1, 2346)]


async def test_names_that_are_no_utf8_are_shown_and_do_no_harm(box: LocalSandbox) -> None:
    await box.run(Command("eff_1", 1, r"mkdir d; touch $'d/\xff.txt'"))
    assert await names(box, "d") == ["/workspace/d/�.txt"]
    await box.files.remove("d")


async def test_no_name_and_no_attribute_is_too_long_to_be_told(box: LocalSandbox) -> None:
    script = r"""
    import os
    os.mkdir("d")
    for number in range(300):
        path = f"d/{number:03}" + chr(7) * 250
        open(path, "w").close()
        os.symlink("x" * 4000, f"d/link{number:03}")
        for part in range(3):
            os.setxattr(path, f"user.{part}", bytes([1]) * 60_000)
    """
    await box.run(Command("eff_1", 1, f"cd ~; python3 -c '{textwrap.dedent(script)}'"))
    found = await box.files.list(f"{HOME}/d")
    assert len(found) == 600
    assert all(len("".join(facts.metadata.values())) <= 65_536 for facts in found)


async def test_making_a_folder_says_whether_it_was_new(box: LocalSandbox) -> None:
    assert await box.files.make_dir(f"{HOME}/a/b/c")
    assert not await box.files.make_dir(f"{HOME}/a/b/c")
    await box.files.write("file", pieces(b""))
    with pytest.raises(PathRefused):
        await box.files.make_dir("file")
    with pytest.raises(PathRefused):
        await box.files.make_dir("file/below")


async def test_a_file_or_folder_is_moved_also_between_file_systems(box: LocalSandbox) -> None:
    await box.files.write("d/a.txt", pieces(b"a"))
    assert (await box.files.move("d", "/workspace/e/f")).kind == "directory"
    assert (await box.files.move("e/f", f"{HOME}/new/g")).path == f"{HOME}/new/g"
    assert await read(box, f"{HOME}/new/g/a.txt") == b"a"
    assert await names(box, "/workspace", depth=9) == ["/workspace/e"]
    await box.files.write("b.txt", pieces(b"b"))
    assert (await box.files.move(f"{HOME}/new/g/a.txt", "b.txt")).size == 1
    assert await read(box, "b.txt") == b"a"


async def test_a_move_onto_a_folder_that_is_not_empty_is_a_conflict(box: LocalSandbox) -> None:
    await box.run(Command("eff_1", 1, "mkdir -p a b/c ~/d/e; touch f"))
    for source, target in (("a", "b"), ("a", f"{HOME}/d"), ("f", "b")):
        with pytest.raises(Conflict):
            await box.files.move(source, target)
    with pytest.raises(NotFound):
        await box.files.move("missing", "b")
    with pytest.raises(PathRefused):
        await box.files.move("b", "b/c/d")


async def test_files_and_whole_folders_are_removed_but_not_what_holds_the_sandbox(box: LocalSandbox) -> None:
    await box.run(Command("eff_1", 1, "mkdir -p d/e empty; touch d/e/f g; ln -s d link"))
    for path in ("g", "link", "empty"):
        await box.files.remove(path)
    assert await names(box, "/workspace", 9) == ["/workspace/d", "/workspace/d/e", "/workspace/d/e/f"]
    await box.files.remove("d")
    assert await names(box, "/workspace") == []
    with pytest.raises(NotFound):
        await box.files.remove("d")
    for path in ("/", "/workspace", HOME, "/tmp", "/usr/bin/env"):
        with pytest.raises(PathRefused):
            await box.files.remove(path)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("missing", NotFound),
        ("/etc/no/such", NotFound),
        ("a\0b", PathRefused),
        ("/workspace", PathRefused),
        ("/dev/zero", PathRefused),
        ("pipe", PathRefused),
        ("/proc/1/environ", PathRefused),
    ],
)
async def test_what_cannot_be_read_is_refused(box: LocalSandbox, path: str, error: type[Exception]) -> None:
    await box.run(Command("eff_1", 1, "mkfifo pipe"))
    with pytest.raises(error):
        await read(box, path)


@pytest.mark.parametrize("path", ["/etc/passwd", "/usr/new", "/workspace/d", "/workspace/f/below", "/dev/null"])
async def test_what_cannot_be_written_is_refused(box: LocalSandbox, path: str) -> None:
    await box.run(Command("eff_1", 1, "mkdir d; touch f"))
    with pytest.raises(PathRefused):
        await box.files.write(path, pieces(b"x"))


async def test_files_of_the_system_can_be_read_and_its_folders_listed(box: LocalSandbox) -> None:
    assert b"user:x:1000" in await read(box, "/etc/passwd")
    assert b"MemTotal" in await read(box, "/proc/meminfo")
    assert "/usr/bin" in await names(box, "/usr")


async def test_more_than_fits_is_refused_in_every_folder_and_leaves_nothing(box: LocalSandbox) -> None:
    block = b"x" * 1_000_000

    async def flood() -> AsyncIterator[bytes]:
        while True:
            yield block

    for folder in ("/workspace", HOME):
        with pytest.raises(DiskFull):
            await box.files.write(f"{folder}/big", flood())
        assert await names(box, folder) == []
        await box.files.write(f"{folder}/small", pieces(b"fits"))


async def test_a_link_is_written_through(box: LocalSandbox) -> None:
    await box.run(Command("eff_1", 1, "echo old > target; ln -s target link"))
    assert (await box.files.write("link", pieces(b"new"))).path == "/workspace/link"
    assert (await box.files.stat("link")).kind == "symlink"
    assert await read(box, "target") == b"new"


async def test_a_frozen_sandbox_answers_when_it_is_thawed(box: LocalSandbox) -> None:
    done: list[bytes] = []

    async def write() -> None:
        await box.files.write("a.txt", pieces(b"x" * 3_000_000))
        done.append(await read(box, "a.txt"))

    await box.freeze()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        await anyio.wait_all_tasks_blocked()
        assert done == []
        await box.thaw()
    assert len(done[0]) == 3_000_000
