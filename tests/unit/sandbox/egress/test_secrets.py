"""Placeholders, and what is put in their place."""

from __future__ import annotations

import base64
import pickle

import pytest

from outlast_sandbox.egress.refusals import Refused
from outlast_sandbox.egress.secrets import OperatorSecrets, SandboxSecrets, SecretValue, placeholder

MARK = placeholder(b"key", "sbx_1", "A")


async def nobody() -> str | None:
    return None


def secrets_of(**values: str) -> SandboxSecrets:
    return SandboxSecrets({"A": MARK}, "prj_1", OperatorSecrets(values), nobody)


def test_a_placeholder_is_the_same_for_ever_and_another_for_each_sandbox_secret_and_server() -> None:
    assert placeholder(b"key", "sbx_1", "A") == MARK
    others = {placeholder(b"key", "sbx_2", "A"), placeholder(b"key", "sbx_1", "B"), placeholder(b"yek", "sbx_1", "A")}
    assert len(others | {MARK}) == 4
    assert MARK.startswith("SECRET_PLACEHOLDER_")


async def test_it_is_found_and_replaced_wherever_a_value_holds_it() -> None:
    secrets = secrets_of(A="the-value")
    found = await secrets.value("A", None)
    assert found is not None
    basic = base64.b64encode(f"{MARK}:x".encode())
    headers = [(b"X", f"a {MARK} b {MARK}".encode()), (b"Authorization", b"basic " + basic), (b"Y", b"plain")]
    assert secrets.named_in(headers, ("A",)) == ["A"]
    replaced = dict(secrets.put_in(headers, {"A": found}))
    assert replaced == {
        b"X": b"a the-value b the-value",
        b"Authorization": b"Basic " + base64.b64encode(b"the-value:x"),
        b"Y": b"plain",
    }


@pytest.mark.parametrize("header", [b"Basic", b"Basic ", b"Basic !!!", b"Basic abc", b"Bearer x", b"Basic YTpi", b""])
def test_credentials_that_hold_none_stay_as_they_are(header: bytes) -> None:
    secrets = secrets_of()
    headers = [(b"Authorization", header)]
    assert secrets.named_in(headers, ("A",)) == []
    assert secrets.put_in(headers, {"A": SecretValue(b"v")}) == headers


async def test_a_look_up_that_fails_is_told_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(user_id: str | None, project_id: str, name: str) -> str | None:
        raise RuntimeError("the value is hunter2")

    secrets = SandboxSecrets({"A": MARK}, "prj_1", broken, nobody)
    with pytest.raises(Refused) as refused:
        await secrets.value("A", "usr_1")
    assert refused.value.code == "secret_unavailable"
    assert b"hunter2" not in refused.value.answer()
    assert "hunter2" not in caplog.text


def test_a_value_is_not_printed_and_not_written_down() -> None:
    value = SecretValue(b"hunter2")
    assert "hunter2" not in f"{value!r} {value}"
    with pytest.raises(TypeError):
        pickle.dumps(value)
