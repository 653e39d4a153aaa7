"""What only Deno shows, as far as a server of ours that speaks its wire protocol can show it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from outlast_sandbox.errors import SandboxLost, SandboxUnavailable
from outlast_sandbox.interface import Command, SandboxSpec, WireSecret
from outlast_sandbox.providers.deno import provider as module
from outlast_sandbox.providers.deno.provider import DenoProvider, open_provider
from outlast_sandbox.providers.deno.service import Machine
from outlast_sandbox.providers.hosted import handle
from outlast_sandbox.providers.setup import ProviderSetup
from tests.sandbox.deno_service import TOKEN, DenoService

pytestmark = pytest.mark.sandbox
Another = Callable[..., DenoProvider]


@pytest.fixture
def another(deno: DenoProvider, tmp_path: Path) -> Another:
    """A provider as a restarted server would open it."""

    def make(*, token: str | None = TOKEN, region: str = "", **options: object) -> DenoProvider:
        tokens = {"DENO_DEPLOY_TOKEN": token} if token else {}
        setup = ProviderSetup(
            state_dir=deno._records,
            cache_dir=tmp_path,
            owner="node_1",
            options=options,
            region=region,
            secret=tokens.get,
        )
        return open_provider(setup)

    return make


async def test_without_a_token_the_fix_is_said(another: Another, spec: SandboxSpec) -> None:
    report = await another(token=None).probe()
    assert not report.ok
    assert report.fixes == ("export DENO_DEPLOY_TOKEN=...",)
    with pytest.raises(SandboxUnavailable, match="DENO_DEPLOY_TOKEN is not set"):
        await another(token=None).create(spec)


async def test_a_token_that_is_not_accepted_is_said_and_not_told(another: Another, spec: SandboxSpec) -> None:
    report = await another(token="ddo_wrong").probe()
    assert "does not accept the token" in report.details[0]
    assert "ddo_wrong" not in str(report)
    with pytest.raises(SandboxUnavailable, match="does not accept the token"):
        await another(token="ddo_wrong").create(spec)


async def test_it_is_made_as_the_settings_say_and_outlives_the_connection(
    deno_service: DenoService, another: Another, spec: SandboxSpec
) -> None:
    provider = another(region="ams", root="python-image")
    sandbox = await provider.create(
        replace(
            spec,
            allow_hosts=("api.example.com",),
            secrets={"API_KEY": WireSecret(("api.example.com",), "a secret value")},
        )
    )
    config = deno_service.configs[sandbox.ref]
    assert config["timeout"] == "1800s"
    assert config["region"] == "ams"
    assert config["root"] == {"volume": "python-image"}
    assert config["allow_net"] == ["api.example.com"]
    assert config["secrets"] == {"API_KEY": {"hosts": ["api.example.com"], "value": "a secret value"}}
    assert config["memory_mb"] == 768, "no less than Deno gives"
    assert "a secret value" not in (await sandbox.run(Command("eff_1", 1, "env"))).output
    await sandbox.aclose()


async def test_nothing_is_reached_where_no_host_is_named(
    deno: DenoProvider, deno_service: DenoService, spec: SandboxSpec
) -> None:
    sandbox = await deno.create(spec)
    assert deno_service.configs[sandbox.ref]["allow_net"] == []
    await sandbox.aclose()


async def test_a_restarted_server_goes_on_with_the_command(
    deno: DenoProvider, another: Another, spec: SandboxSpec
) -> None:
    sandbox = await deno.create(spec)
    begun = anyio.Event()
    script = "echo begun; sleep 0.5; echo ended >> runs.txt; cat runs.txt"
    async with anyio.create_task_group() as tasks:

        async def follow() -> None:
            await sandbox.run(Command("eff_1", 1, script), lambda _text: begun.set())

        tasks.start_soon(follow)
        await begun.wait()
        tasks.cancel_scope.cancel()
    await sandbox.aclose()
    restarted = another()
    (found,) = await restarted.list_refs()
    again = await restarted.connect(*found)
    assert (await again.run(Command("eff_1", 2, script))).output == "begun\nended\n"
    await again.aclose()


async def test_a_connection_that_breaks_under_a_command_is_made_anew_and_nothing_is_told_twice(
    deno: DenoProvider, deno_service: DenoService, spec: SandboxSpec
) -> None:
    sandbox = await deno.create(spec)
    heard: list[str] = []
    begun = anyio.Event()
    results = []

    def listen(text: str) -> None:
        heard.append(text)
        begun.set()

    async def run() -> None:
        results.append(await sandbox.run(Command("eff_1", 1, "echo begun; sleep 1; echo ended"), listen))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await begun.wait()
        await deno_service.drop_connections()
    assert results[0].output == "begun\nended\n"
    assert "".join(heard) == "begun\nended\n"
    await sandbox.aclose()


async def test_it_is_asked_to_live_on_while_a_command_runs(
    deno: DenoProvider, deno_service: DenoService, spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handle, "EXTEND_EVERY_S", 0.05)
    sandbox = await deno.create(spec)
    await sandbox.run(Command("eff_1", 1, "sleep 0.5"))
    assert deno_service.extended > 0
    await sandbox.aclose()


async def test_one_that_ended_there_is_forgotten_here(
    deno: DenoProvider, deno_service: DenoService, spec: SandboxSpec
) -> None:
    sandbox = await deno.create(spec)
    await deno_service.sandboxes.pop(sandbox.ref).kill()
    assert await deno.list_refs() == []
    assert list(deno._records.iterdir()) == []
    with pytest.raises(SandboxLost):
        await deno.connect(spec.sandbox_id, sandbox.ref)
    await sandbox.aclose()


async def test_an_agent_that_does_not_start_is_said_and_leaves_nothing(
    deno: DenoProvider, deno_service: DenoService, spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "start_command", lambda *_words: "echo no such python >&2; exit 127")
    with pytest.raises(SandboxUnavailable, match="no such python") as caught:
        await deno.create(spec)
    assert "sandbox.options.root" in caught.value.hint
    assert deno_service.sandboxes == {}
    assert await deno.list_refs() == []


async def test_a_cancelled_start_leaves_nothing(
    deno: DenoProvider, deno_service: DenoService, spec: SandboxSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Machine.shell

    async with anyio.create_task_group() as tasks:

        async def cancelling(machine: Machine, script: str) -> str:
            tasks.cancel_scope.cancel()
            return await real(machine, script)

        monkeypatch.setattr(Machine, "shell", cancelling)
        await deno.create(spec)
    assert tasks.cancel_scope.cancelled_caught
    assert deno_service.sandboxes == {}
    assert await deno.list_refs() == []


async def test_much_is_written_and_read_whole(deno: DenoProvider, spec: SandboxSpec) -> None:
    sandbox = await deno.create(spec)
    data = os.urandom(3_000_000)
    await sandbox.write_files([("big.bin", data)])
    assert await sandbox.read_file("big.bin", 10_000_000) == data
    await sandbox.aclose()


async def test_a_quick_process_is_heard_whatever_comes_first(deno: DenoProvider, spec: SandboxSpec) -> None:
    """The SDK drops output that arrives before it has made its reader, as a quick process's may."""
    sandbox = await deno.create(spec)
    for number in range(20):
        assert await sandbox._machine.shell(f"echo {number}") == str(number)
    await sandbox.aclose()
