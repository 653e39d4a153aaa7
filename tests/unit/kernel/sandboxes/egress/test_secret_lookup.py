"""The look-up of secrets that an operator chooses."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from outlast.base.errors import InvalidSetting, StartRefused
from outlast.kernel.sandboxes.egress import secret_lookup
from outlast_sandbox.egress.secrets import OperatorSecrets


async def vault(user_id: str | None, project_id: str, name: str) -> str | None:
    return f"{user_id}/{project_id}/{name}"


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [
        EntryPoint("vault", f"{__name__}:vault", secret_lookup.GROUP),
        EntryPoint("broken", "no.such.module:x", secret_lookup.GROUP),
    ]
    monkeypatch.setattr(secret_lookup, "plugins", lambda group: entries)


async def test_without_a_choice_it_is_the_servers_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY_OF_THE_TEST", "value")
    lookup = secret_lookup.open_lookup("")
    assert isinstance(lookup, OperatorSecrets)
    assert lookup.has("A_KEY_OF_THE_TEST")
    assert await lookup("usr_1", "prj_1", "A_KEY_OF_THE_TEST") == "value"
    assert await lookup("usr_1", "prj_1", "NO_KEY_OF_THE_TEST") is None


async def test_another_packages_function_is_asked_for_each_user() -> None:
    lookup = secret_lookup.open_lookup("vault")
    assert await lookup("usr_1", "prj_1", "A") == "usr_1/prj_1/A"


def test_a_name_that_nobody_has_stops_the_start_with_those_there_are() -> None:
    with pytest.raises(InvalidSetting, match="broken, vault"):
        secret_lookup.open_lookup("valut")


def test_one_that_cannot_be_loaded_says_what_to_repair() -> None:
    with pytest.raises(StartRefused, match="cannot be loaded"):
        secret_lookup.open_lookup("broken")
