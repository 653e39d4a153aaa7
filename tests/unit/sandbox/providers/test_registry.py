"""A provider is chosen by name: those that ship with Outlast, and those of other installed packages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from outlast_sandbox.errors import InvalidSetting, StartRefused
from outlast_sandbox.interface import Sandbox, SandboxProvider
from outlast_sandbox.providers import registry
from outlast_sandbox.providers.deno.provider import DenoProvider
from outlast_sandbox.providers.deno.sandbox import DenoSandbox
from outlast_sandbox.providers.docker.provider import DockerProvider
from outlast_sandbox.providers.docker.sandbox import DockerSandbox
from outlast_sandbox.providers.e2b.provider import E2bProvider
from outlast_sandbox.providers.e2b.sandbox import E2bSandbox
from outlast_sandbox.providers.hosts.provider import HostsProvider
from outlast_sandbox.providers.hosts.sandbox import HostSandbox
from outlast_sandbox.providers.local.provider import LocalProvider
from outlast_sandbox.providers.memory import MemoryProvider
from outlast_sandbox.providers.registry import Known, known_providers, open_provider
from outlast_sandbox.providers.setup import ProviderSetup, SandboxHost

if TYPE_CHECKING:  # proved by the type checker: each provider that ships is one, and its sandboxes are sandboxes

    def conform(
        providers: tuple[DockerProvider, HostsProvider, E2bProvider, DenoProvider],
        sandboxes: tuple[DockerSandbox, HostSandbox, E2bSandbox, DenoSandbox],
    ) -> tuple[list[SandboxProvider], list[Sandbox]]:
        return [*providers], [*sandboxes]


MODULE = """
from outlast_sandbox.providers.memory import MemoryProvider

def open_provider(setup):
    provider = MemoryProvider()
    provider.setup = setup
    return provider
"""


@pytest.fixture
def setup(tmp_path: Path) -> ProviderSetup:
    return ProviderSetup(
        state_dir=tmp_path / "state", cache_dir=tmp_path / "cache", owner="node_1", options={"size": 3}
    )


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package as pip would have installed it, with three providers: one good, one broken, one with a taken name."""
    (tmp_path / "cloudy_sandboxes.py").write_text(MODULE)
    facts = tmp_path / "cloudy-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: cloudy\nVersion: 1.2\n")
    (facts / "entry_points.txt").write_text(
        f"[{registry.GROUP}]\n"
        "cloudy = cloudy_sandboxes:open_provider\n"
        "broken = cloudy_sandboxes_gone:open_provider\n"
        "local = cloudy_sandboxes:open_provider\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


def test_the_shipped_ones_are_known() -> None:
    assert [known.name for known in known_providers()][:4] == ["local", "docker", "e2b", "deno"]


def test_the_local_one_is_opened_by_its_name(tmp_path: Path) -> None:
    setup = ProviderSetup(state_dir=tmp_path / "state", cache_dir=tmp_path / "cache", owner="node_1")
    assert isinstance(open_provider("local", setup), LocalProvider)


@pytest.mark.usefixtures("other_package")
def test_a_provider_of_another_package_is_opened_with_its_options(setup: ProviderSetup) -> None:
    provider = open_provider("cloudy", setup)
    assert isinstance(provider, MemoryProvider)
    assert provider.setup is setup  # type: ignore[attr-defined]
    assert Known("cloudy", "cloudy 1.2") in known_providers()


@pytest.mark.usefixtures("other_package")
def test_a_name_that_nobody_has_is_refused_with_those_there_are(setup: ProviderSetup) -> None:
    with pytest.raises(InvalidSetting, match="broken, cloudy, deno, docker, e2b, local") as caught:
        open_provider("clowdy", setup)
    assert "clowdy" in caught.value.message
    assert caught.value.fields["setting"] == "sandbox.provider"


@pytest.mark.usefixtures("other_package")
def test_a_provider_that_cannot_be_loaded_is_refused_by_the_name_of_its_package(setup: ProviderSetup) -> None:
    with pytest.raises(StartRefused, match=r"'broken' \(cloudy 1.2\)"):
        open_provider("broken", setup)


@pytest.mark.usefixtures("other_package")
def test_a_shipped_name_cannot_be_taken_by_another_package(tmp_path: Path) -> None:
    setup = ProviderSetup(state_dir=tmp_path / "state", cache_dir=tmp_path / "cache", owner="node_1")
    assert isinstance(open_provider("local", setup), LocalProvider)
    assert [known.name for known in known_providers()].count("local") == 1


def test_without_its_extra_a_hosted_one_says_what_to_install(
    setup: ProviderSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_installed", lambda module: not module)
    with pytest.raises(StartRefused, match="e2b") as caught:
        open_provider("e2b", setup)
    assert "pip install -e './packages/sandbox[e2b]'" in caught.value.hint
    assert Known("e2b", "Outlast", "./packages/sandbox[e2b]") in known_providers()


def test_an_option_that_a_provider_does_not_know_is_refused(setup: ProviderSetup) -> None:
    with pytest.raises(InvalidSetting, match=r"sandbox.options.size: unknown option"):
        open_provider("local", setup)


def test_a_provider_that_never_met_its_service_is_said_to_be_unproven() -> None:
    told = {known.name: known.unproven for known in known_providers()}
    assert told["deno"] == "unproven: never run against the real service"
    assert told["local"] == told["docker"] == ""


def test_hosts_for_a_provider_without_hosts_are_refused() -> None:
    host = SandboxHost(name="one", url="ssh://box.example")
    setup = ProviderSetup(state_dir=Path("state"), cache_dir=Path("cache"), owner="me", hosts=[host])
    assert isinstance(open_provider("docker", setup), HostsProvider)
    with pytest.raises(InvalidSetting, match=r"sandbox\.hosts.*'local'"):
        open_provider("local", setup)
