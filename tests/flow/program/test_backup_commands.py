"""`outlast backup`, `restore` and `verify`, as an operator uses them."""

from __future__ import annotations

from pathlib import Path

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast


def test_a_running_server_is_copied_and_its_copy_serves(tmp_path: Path) -> None:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data"))
    backup, restored = tmp_path / "backup", tmp_path / "restored"
    with served(config) as url:
        assert outlast("runs", "start", "say hello", url=url).returncode == Exit.OK
        taken = outlast("backup", str(backup), "--config", str(config))
        assert taken.returncode == Exit.OK, taken.stderr
        assert f"Database: {tmp_path / 'data' / 'outlast.db'}" in taken.stderr
        assert "No problems" in outlast("verify", "--config", str(config)).stdout
    assert "No problems" in outlast("verify", str(backup)).stdout
    told = outlast("restore", str(backup), "--data-dir", str(restored))
    assert told.returncode == Exit.OK, told.stderr
    assert "No problems" in outlast("verify", str(restored)).stdout
    again = outlast("restore", str(backup), "--data-dir", str(restored))
    assert again.returncode == Exit.REFUSED
    assert "backup_refused" in again.stderr
    config.write_text(CONFIG.format(folder=restored))
    with served(config) as url:
        assert "say hello" in outlast("threads", "list", url=url).stdout


def test_half_a_backup_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "half" / "files").mkdir(parents=True)
    half = str(tmp_path / "half")
    for words in (["verify", half], ["restore", half, "--data-dir", str(tmp_path / "new")]):
        told = outlast(*words)
        assert told.returncode == Exit.REFUSED
        assert "backup_incomplete" in told.stderr
    assert not (tmp_path / "new").exists()


def test_on_postgresql_the_lines_for_the_database_are_printed_without_its_password(
    tmp_path: Path, postgres_url: str
) -> None:
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data") + f'[database]\nurl = "{postgres_url}"\n')
    assert outlast("tokens", "create", "--config", str(config)).returncode == Exit.OK
    taken = outlast("backup", str(tmp_path / "backup"), "--config", str(config))
    assert taken.returncode == Exit.OK, taken.stderr
    assert "pg_dump --format=custom" in taken.stderr
    assert not (tmp_path / "backup" / "database").exists()
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text(config.read_text().replace(str(tmp_path / "data"), str(tmp_path / "restored")))
    told = outlast("restore", str(tmp_path / "backup"), "--config", str(elsewhere))
    assert told.returncode == Exit.OK, told.stderr
    assert "pg_restore" in told.stderr
    assert "No problems" in outlast("verify", "--config", str(elsewhere)).stdout
    refused = outlast("restore", str(tmp_path / "backup"), "--data-dir", str(tmp_path / "sqlite"))
    assert refused.returncode == Exit.REFUSED
