"""Where an engine may be, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from outlast_sandbox.errors import HostUnreachable, InvalidSetting, StartRefused
from outlast_sandbox.providers.docker.address import SshAddress, TcpAddress, TlsFiles, UnixAddress, read_address
from outlast_sandbox.providers.docker.engine import Engine

NONE = TlsFiles()
FILES = TlsFiles("ca.pem", "cert.pem", "key.pem")


def test_each_kind_of_address_is_read() -> None:
    assert read_address("unix:///run/docker.sock", NONE, "url") == UnixAddress(Path("/run/docker.sock"))
    assert read_address("tcp://box.example", FILES, "url") == TcpAddress("box.example", 2376, FILES)
    assert read_address("tcp://127.0.0.1:9", NONE, "url") == TcpAddress("127.0.0.1", 9, None)
    assert read_address("ssh://deploy@box.example:2222", NONE, "url") == SshAddress("box.example", "deploy", 2222)


@pytest.mark.parametrize(
    "url",
    [
        "tcp://box.example:2375",
        "http://box.example",
        "box.example",
        "ssh://me:secret@box.example",
        "ssh://-oProxyCommand=x",
        "ssh://-l@box",
        "tcp://box.example:port",
        "unix://",
    ],
)
def test_what_is_unsafe_or_unknown_is_refused(url: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        read_address(url, NONE, "sandbox.hosts.url")
    assert "secret" not in str(caught.value)


def test_ssh_runs_with_nothing_to_ask_and_the_host_as_its_own_word() -> None:
    words = SshAddress("box.example", "deploy", 2222).words
    assert words[-2] == "box.example"
    assert words[-3] == "--"
    assert "BatchMode=yes" in words


def test_missing_tls_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(StartRefused, match=r"gone\.pem"):
        TlsFiles(str(tmp_path / "gone.pem")).context()


@pytest.mark.parametrize("address", [TcpAddress("127.0.0.1", 9, None), SshAddress("127.0.0.1", "x", 9)], ids=str)
async def test_a_host_that_does_not_answer_is_unreachable(address: TcpAddress | SshAddress) -> None:
    with pytest.raises(HostUnreachable) as caught:
        await Engine(address).ping()
    assert caught.value.code == "host_unreachable"
    assert str(address) in caught.value.message
