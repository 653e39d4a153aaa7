"""Which addresses a build may reach is read from what pip and npm are configured with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from outlast_sandbox.package_indexes import Indexes, read_indexes


def read(tmp_path: Path, pip_conf: str = "", npmrc: str = "", **environ: str) -> Indexes:
    """With these configuration files in the home folder, and nothing else but PATH in the environment."""
    (tmp_path / "pip.conf").write_text(pip_conf)
    (tmp_path / ".npmrc").write_text(npmrc)
    base = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    return read_indexes(Path(sys.executable), {**base, **environ})


def test_without_any_configuration_the_public_indexes_are_allowed(tmp_path: Path) -> None:
    indexes = read(tmp_path)
    assert indexes.allowed == {("pypi.org", 443), ("files.pythonhosted.org", 443), ("registry.npmjs.org", 443)}
    assert (indexes.npm, indexes.npmrc, indexes.folders) == ({}, "", ())


def test_a_configured_index_takes_the_place_of_the_public_one(tmp_path: Path) -> None:
    indexes = read(
        tmp_path,
        "[global]\nindex-url = https://pypi.example.test/simple\ntrusted-host = pypi.example.test\n",
        "registry=http://127.0.0.1:4873/\n",
    )
    assert indexes.allowed == {("pypi.example.test", 443), ("127.0.0.1", 4873)}
    assert indexes.npm == {"NPM_CONFIG_REGISTRY": "http://127.0.0.1:4873/"}
    assert indexes.pip == {"PIP_INDEX_URL": "https://pypi.example.test/simple", "PIP_TRUSTED_HOST": "pypi.example.test"}


def test_the_environment_is_stronger_than_the_files(tmp_path: Path) -> None:
    indexes = read(
        tmp_path,
        "[global]\nindex-url = https://file.example.test/simple\n",
        "registry=https://file.example.test/\n",
        PIP_INDEX_URL="https://env.example.test:8443/simple",
        NPM_CONFIG_REGISTRY="https://env.example.test/npm/",
    )
    assert indexes.allowed == {("env.example.test", 8443), ("env.example.test", 443)}


def test_scopes_keep_their_own_registry(tmp_path: Path) -> None:
    indexes = read(tmp_path, npmrc="@acme:registry=https://${WHERE}.example.test/\n", WHERE="npm")
    assert ("npm.example.test", 443) in indexes.allowed
    assert ("registry.npmjs.org", 443) in indexes.allowed
    assert indexes.npmrc == "@acme:registry=https://npm.example.test/\n"


def test_passwords_and_tokens_stay_outside(tmp_path: Path) -> None:
    indexes = read(
        tmp_path,
        "[global]\nindex-url = https://me:hunter2@pypi.example.test/simple\n",
        "registry=https://me:hunter2@npm.example.test/\n//npm.example.test/:_authToken=hunter2\n",
    )
    assert "hunter2" not in repr(indexes)
    assert indexes.allowed == {("pypi.example.test", 443), ("npm.example.test", 443)}


def test_folders_are_named_to_be_shown_and_no_index_allows_no_host(tmp_path: Path) -> None:
    for name in ("wheels", "mirror/simple", "mirror/files"):
        (tmp_path / name).mkdir(parents=True)
    indexes = read(
        tmp_path,
        f"[global]\nno-index = true\nfind-links = {tmp_path}/wheels file://{tmp_path}/missing\n"
        f"extra-index-url = file://{tmp_path}/mirror/simple\n",
        "registry=https://npm.example.test/\n",
    )
    assert indexes.folders == (tmp_path / "mirror", tmp_path / "wheels")
    assert indexes.allowed == {("npm.example.test", 443)}
    assert indexes.pip["PIP_NO_INDEX"] == "true"


def test_a_python_without_pip_has_the_public_index(tmp_path: Path) -> None:
    indexes = read_indexes(tmp_path / "no-python", {"HOME": str(tmp_path)})
    assert ("pypi.org", 443) in indexes.allowed


@pytest.mark.parametrize("line", ["registry", "registry =", "; registry=https://no.example.test/", "\x00"])
def test_a_line_that_says_nothing_is_passed_over(tmp_path: Path, line: str) -> None:
    assert ("registry.npmjs.org", 443) in read(tmp_path, npmrc=f"{line}\n").allowed
