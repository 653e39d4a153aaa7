"""`outlast login`, `logout` and `status` against a server."""

from __future__ import annotations

import json
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from outlast.kernel.cli.exits import Exit
from tests.flow.program.serving import CONFIG, served
from tests.flow.program.test_cli import outlast


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("login")
    file = folder / "outlast.toml"
    file.write_text(CONFIG.format(folder=folder / "data"))
    return file


@pytest.fixture(scope="module")
def server(config: Path) -> Iterator[str]:
    with served(config) as address:
        yield address


@pytest.fixture(scope="module")
def token(config: Path, server: str) -> str:
    return outlast("tokens", "create", "--new-user", "Ada", "--config", str(config)).stdout.strip()


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


def test_a_login_is_saved_for_its_user_alone_and_used_by_later_commands(
    server: str, token: str, home: dict[str, str]
) -> None:
    done = outlast("login", server, "--token", "-", stdin=f"{token}\n", **home)
    assert done.returncode == Exit.OK, done.stderr
    assert "as Ada" in done.stdout
    assert token not in done.stdout + done.stderr
    file = Path(home["XDG_CONFIG_HOME"]) / "outlast" / "servers.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]
    assert json.loads(outlast("status", "--json", **home).stdout)["user"] == "Ada"
    assert outlast("projects", "list", **home).returncode == Exit.OK


def test_a_server_on_this_machine_needs_no_token(server: str, home: dict[str, str]) -> None:
    done = outlast("login", server, **home)
    assert done.returncode == Exit.OK, done.stderr
    assert "as Owner" in done.stdout


def test_a_server_that_needs_a_token_is_not_saved_without_one(tmp_path: Path, home: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    public = f'[server]\npublic_url = "https://outlast.example.org"\nport = {port}'
    config = tmp_path / "outlast.toml"
    config.write_text(CONFIG.format(folder=tmp_path / "data").replace("[server]\nport = 0", public))
    with served(config):
        refused = outlast("login", f"http://127.0.0.1:{port}", **home)
        shown = outlast("status", "--json", url=f"http://127.0.0.1:{port}")
    assert refused.returncode == Exit.REFUSED_TO_START
    assert "--token" in refused.stderr
    assert not (Path(home["XDG_CONFIG_HOME"]) / "outlast").exists()
    assert json.loads(shown.stdout)["ready"] is True
    assert json.loads(shown.stdout)["user"] is None


def test_a_wrong_token_is_refused_and_not_saved(server: str, home: dict[str, str]) -> None:
    refused = outlast("login", server, "--token", "ol_wrong", **home)
    assert refused.returncode == Exit.REFUSED
    assert "not_signed_in" in refused.stderr
    assert "ol_wrong" not in refused.stderr
    assert not (Path(home["XDG_CONFIG_HOME"]) / "outlast" / "servers.json").exists()


def test_an_address_where_no_server_answers_is_not_saved(home: dict[str, str]) -> None:
    assert outlast("login", "http://127.0.0.1:1", **home).returncode == Exit.UNREACHABLE
    assert not (Path(home["XDG_CONFIG_HOME"]) / "outlast" / "servers.json").exists()


def test_the_last_login_is_used_and_others_by_their_address(server: str, token: str, home: dict[str, str]) -> None:
    other = server.replace("127.0.0.1", "localhost")
    outlast("login", other, **home)
    outlast("login", server, "--token", token, **home)
    assert json.loads(outlast("status", "--json", **home).stdout)["user"] == "Ada"
    assert json.loads(outlast("status", "--json", "--server", other, **home).stdout)["user"] == "Owner"
    assert outlast("logout", **home).returncode == Exit.OK
    assert json.loads(outlast("status", "--json", **home).stdout)["url"] == other


def test_a_saved_token_goes_only_to_the_address_it_was_saved_with(
    server: str, token: str, home: dict[str, str]
) -> None:
    outlast("login", server, "--token", token, **home)
    other = server.replace("127.0.0.1", "localhost")
    assert json.loads(outlast("status", "--json", "--server", other, **home).stdout)["user"] == "Owner"


def test_a_logout_forgets_the_token(server: str, token: str, home: dict[str, str]) -> None:
    outlast("login", server, "--token", token, **home)
    assert outlast("logout", **home).returncode == Exit.OK
    assert token not in (Path(home["XDG_CONFIG_HOME"]) / "outlast" / "servers.json").read_text()
    assert outlast("logout", server, **home).returncode == Exit.REFUSED_TO_START


@pytest.mark.parametrize("content", ["{", "[]", '{"ol_secret": 1}', '{"current": "", "tokens": ["ol_secret"]}'])
def test_a_damaged_file_of_servers_is_named_with_what_to_do_and_without_its_content(
    content: str, home: dict[str, str]
) -> None:
    file = Path(home["XDG_CONFIG_HOME"]) / "outlast" / "servers.json"
    file.parent.mkdir(parents=True)
    file.write_text(content)
    refused = outlast("runs", "list", **home)
    assert refused.returncode == Exit.REFUSED_TO_START
    assert str(file) in refused.stderr
    assert "outlast login" in refused.stderr
    assert "ol_secret" not in refused.stderr


@pytest.mark.parametrize(
    "address", ["ftp://outlast.example.com", "https://", "https://[", "https://ada:secret@outlast.example.com"]
)
def test_what_is_no_address_is_refused(address: str, home: dict[str, str]) -> None:
    assert outlast("login", address, **home).returncode == Exit.REFUSED_TO_START


def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(server: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = outlast("login", server, XDG_CONFIG_HOME=str(tmp_path / "file"))
    assert refused.returncode == Exit.REFUSED_TO_START
    assert str(tmp_path) in refused.stderr


def test_the_status_names_what_works(server: str) -> None:
    shown = outlast("status", url=server)
    assert shown.returncode == Exit.OK
    for line in ("ready", "Owner", "0.1.0"):
        assert line in shown.stdout
    assert json.loads(outlast("status", "--json", url=server).stdout)["ready"] is True


def test_a_server_that_is_away_has_no_status() -> None:
    assert outlast("status", url="http://127.0.0.1:1").returncode == Exit.UNREACHABLE
