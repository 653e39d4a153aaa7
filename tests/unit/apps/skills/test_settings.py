"""The folder of the server's skills in the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast.apps.skills.settings import SkillSettings
from outlast.base.errors import InvalidSetting
from outlast.kernel.settings.load import load_settings


def test_the_folder_is_relative_to_the_file_that_names_it_and_has_to_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ours").mkdir()
    file = tmp_path / "outlast.toml"

    def folder(text: str, **environ: str) -> str:
        file.write_text(text)
        return load_settings(file, environ=environ).of(SkillSettings).folder

    assert folder("[skills]\nfolder = 'ours'\n") == str(tmp_path / "ours")
    assert folder("") == ""
    monkeypatch.chdir(tmp_path)
    assert folder("", OUTLAST_SKILLS_FOLDER="ours") == str(tmp_path / "ours")
    for value in ("'elsewhere'", "3"):
        with pytest.raises(InvalidSetting) as refused:
            folder(f"[skills]\nfolder = {value}\n")
        assert refused.value.fields["setting"] == "skills.folder"
