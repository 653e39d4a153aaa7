"""Zips and files that people send."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable

import pytest

from outlast.apps.skills.archives import read_sent
from outlast.apps.skills.rules import Bounds
from outlast.base.errors import InputTooLarge
from outlast.base.skill_errors import SkillInvalid

MAIN = b"---\nname: greet\ndescription: Greets.\n---\nSay hello.\n"
BOUNDS = Bounds(files=3, size_bytes=10_000)


def packed(change: Callable[[zipfile.ZipFile], None] = lambda _archive: None, main: str = "greet/SKILL.md") -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(main, MAIN)
        change(archive)
    return body.getvalue()


def link(archive: zipfile.ZipFile) -> None:
    member = zipfile.ZipInfo("greet/etc")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(member, "/etc/passwd")


def locked(body: bytes) -> bytes:
    at = body.index(b"PK\x01\x02")
    return body[: at + 8] + b"\x01" + body[at + 9 :]


def test_a_zip_a_folder_and_a_single_file_are_the_same_skill() -> None:
    zipped = read_sent([("greet.zip", packed())], BOUNDS)
    folder = read_sent([("greet/SKILL.md", MAIN)], BOUNDS)
    alone = read_sent([("greeting.md", MAIN)], BOUNDS)
    assert zipped == folder == alone
    assert zipped.instructions == "Say hello."


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (packed(link), "is a link"),
        (packed(lambda one: one.writestr("../up", b"")), "leads out"),
        (packed(lambda one: one.writestr("/etc/passwd", b"")), "leads out"),
        (packed(lambda one: one.writestr("greet/a", b"", zipfile.ZIP_LZMA)), "method other than deflate"),
        (packed(lambda one: one.writestr("other/a", b"")), "no SKILL.md"),
        (packed(main="SKILL.txt"), "no SKILL.md"),
        (locked(packed()), "password"),
        (packed()[:-30], "cannot be unpacked"),
        (b"PK nothing", "cannot be unpacked"),
    ],
)
def test_a_zip_that_is_not_the_files_of_one_folder_is_refused(body: bytes, words: str) -> None:
    with pytest.raises(SkillInvalid, match=words):
        read_sent([("x.zip", body)], BOUNDS)


def test_a_zip_is_not_unpacked_beyond_its_bounds() -> None:
    bomb = packed(lambda one: one.writestr("greet/zeros", bytes(50_000_000)))
    assert len(bomb) < 100_000
    with pytest.raises(InputTooLarge, match="at most 10,000"):
        read_sent([("x.zip", bomb)], BOUNDS)

    def many(archive: zipfile.ZipFile) -> None:
        for number in range(3):
            archive.writestr(f"greet/{number}", b"")

    with pytest.raises(InputTooLarge, match="4 files"):
        read_sent([("x.zip", packed(many))], BOUNDS)


def test_a_zip_that_states_a_smaller_size_than_it_unpacks_to_is_refused() -> None:
    body = bytearray(packed(lambda one: one.writestr("greet/zeros", bytes(20_000))))
    at = body.rindex(b"PK\x01\x02")
    body[at + 24 : at + 28] = (100).to_bytes(4, "little")
    with pytest.raises(SkillInvalid, match="cannot be unpacked"):
        read_sent([("x.zip", bytes(body))], BOUNDS)


def test_two_files_of_one_path_are_refused() -> None:
    with pytest.raises(SkillInvalid, match="same path"):
        read_sent([("g/SKILL.md", MAIN), ("g/SKILL.md", MAIN)], BOUNDS)
