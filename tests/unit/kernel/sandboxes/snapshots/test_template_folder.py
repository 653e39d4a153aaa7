"""The files that lie in every sandbox's home folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.base.errors import InvalidSetting
from outlast.kernel.sandboxes.snapshots import template_folder
from outlast.kernel.sandboxes.snapshots.template_folder import read_template


def test_files_are_read_by_relative_path_without_links_and_without_what_can_be_made_again(tmp_path: Path) -> None:
    for name in ("app/page.tsx", "README.md", ".git/config", "node_modules/a/index.js", "app/node_modules/b.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert read_template(str(tmp_path)) == {"README.md": b"README.md", "app/page.tsx": b"app/page.tsx"}


def test_what_is_no_folder_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("123456")
    with pytest.raises(InvalidSetting, match="does not exist"):
        read_template(str(tmp_path / "missing"))
    monkeypatch.setattr(template_folder, "TEMPLATE_BYTES", 5)
    with pytest.raises(InvalidSetting, match="more than 64 MiB"):
        read_template(str(tmp_path))
