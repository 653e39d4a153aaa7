"""Which files are an app's own, and how they are packed up."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.screens.zip_archive import archive_name, is_packed, is_shown, packed


@pytest.mark.parametrize(
    ("path", "shown", "in_archive"),
    [
        ("app/page.tsx", True, True),
        (".env.example", True, True),
        (".gitignore", True, True),
        ("keys/key.ts", True, True),
        ("components/env.ts", True, True),
        (".env", True, False),
        ("config/.env.production.local", True, False),
        (".npmrc", True, False),
        (".ssh/config", True, False),
        ("certs/a.PEM", True, False),
        ("id_ed25519", True, False),
        ("dev.log", True, False),
        ("tsconfig.tsbuildinfo", True, False),
        ("node_modules/react/index.js", False, False),
        ("packages/a/node_modules/b.js", False, False),
        (".next/server/page.js", False, False),
        (".git/config", False, False),
    ],
)
def test_which_files_are_shown_and_which_are_packed(path: str, shown: bool, in_archive: bool):
    assert (is_shown(path), is_packed(path)) == (shown, in_archive)


@pytest.mark.parametrize(
    ("title", "name"),
    [("Pricing page", "pricing-page"), ("Über – uns!", "ber-uns"), ("日本", "screen"), ("", "screen")],
)
def test_an_archive_is_called_by_the_title(title: str, name: str):
    assert archive_name(title) == name


@given(st.text(max_size=300))
def test_an_archives_name_is_safe_anywhere(title: str):
    name = archive_name(title)
    assert 0 < len(name) <= 60
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


names = st.text(alphabet="abcdé.", min_size=1, max_size=8).filter(lambda name: set(name) != {"."})


def test_no_name_in_an_archive_leads_out_of_its_folder_where_backslashes_part_folders():
    archive = b"".join(packed("app", [("..\\..\\start.bat", b"x")]))
    assert zipfile.ZipFile(io.BytesIO(archive)).namelist() == ["app/.._.._start.bat"]


@given(st.dictionaries(names, st.binary(max_size=300), max_size=6))
def test_an_archive_holds_every_file_and_is_the_same_each_time(files: dict[str, bytes]):
    once, again = (b"".join(packed("app", sorted(files.items()))) for _ in range(2))
    assert once == again
    with zipfile.ZipFile(io.BytesIO(once)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {
            f"app/{path}": content for path, content in files.items()
        }
