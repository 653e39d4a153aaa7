"""What is told and kept of a file, also where the file system keeps no attributes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from outlast_sandbox.providers.local.inside import file_facts
from outlast_sandbox.providers.local.inside.effects import Refused
from outlast_sandbox.providers.local.inside.file_facts import Facts, refused, resolve


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of the sandbox that ends with it, on a file system without attributes, as `tmpfs` before Linux 6.6."""

    def unsupported(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(os, "setxattr", unsupported)
    monkeypatch.setattr(os, "listxattr", unsupported)
    (tmp_path / "home").mkdir()
    monkeypatch.setattr(file_facts, "IN_MEMORY", (str(tmp_path / "home"),))
    return tmp_path / "home"


def test_metadata_is_remembered_where_the_file_system_keeps_none(bare: Path) -> None:
    known = Facts()
    (bare / "a").write_text("a")
    known.keep(str(bare / "a"), {"author": "me"})
    (bare / "a").rename(bare / "b")
    assert known.of(str(bare / "b"))["metadata"] == {"author": "me"}
    (bare / "c").write_text("c")
    assert known.of(str(bare / "c"))["metadata"] == {}


def test_metadata_is_refused_where_it_would_not_outlive_the_sandbox_as_the_file_does(bare: Path) -> None:
    (bare.parent / "a").write_text("a")
    with pytest.raises(Refused) as refusal:
        Facts().keep(str(bare.parent / "a"), {"author": "me"})
    assert refusal.value.code == "path_refused"


def test_owners_without_a_name_are_told_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_facts, "_look_up", lambda _kind, number: str(number))
    told = Facts().of(str(tmp_path))
    assert (told["owner"], told["kind"]) == (str(os.getuid()), "directory")


@pytest.mark.parametrize(
    ("path", "place"), [("", "/workspace"), ("a/../b", "/workspace/b"), ("/x//y/", "/x/y"), ("../etc", "/etc")]
)
def test_a_path_is_absolute_or_lies_in_the_workspace(path: str, place: str) -> None:
    assert resolve(path) == place


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOENT, "not_found"),
        (errno.EFBIG, "disk_full"),
        (errno.ENOTEMPTY, "conflict"),
        (errno.EMFILE, "sandbox_unavailable"),
        (errno.EACCES, "path_refused"),
    ],
)
def test_each_error_of_the_file_system_has_a_code(number: int, code: str) -> None:
    assert refused(OSError(number, os.strerror(number)), "/x").code == code
