"""What settings may not say together, whatever the numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.base.errors import InvalidSetting
from outlast.kernel.connections.settings import ConnectionClient
from outlast.kernel.models.settings import ModelSettings
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast.kernel.settings import Settings
from outlast.kernel.settings.rules import DAY_S, check_settings


def nowhere(name: str) -> str:
    return f"the place of {name}"


def _with(**fields: Any) -> SandboxSettings:
    return SandboxSettings(dependencies=(DependencySettings("npm:a", **fields),))


def accepted(settings: Settings) -> bool:
    try:
        check_settings(settings, nowhere)
    except InvalidSetting:
        return False
    return True


def test_the_shipped_settings_agree_with_each_other() -> None:
    assert accepted(Settings())
    assert accepted(replace(Settings(), sandbox=None))


SECONDS = st.integers(60, 40 * DAY_S)


@given(st.lists(SECONDS, min_size=5, max_size=5), st.integers(1, 60_000), st.integers(1, 60))
def test_clocks_are_accepted_exactly_when_they_are_in_order(
    seconds: list[int], volume_minutes: int, kept_days: int
) -> None:
    """Approval pause ≤ idle pause ≤ stop ≤ volume eviction < kill (of a paused run, of an idle sandbox) < retention."""
    approval, idle, stop, paused, killed = seconds
    shipped = Settings()
    settings = replace(
        shipped,
        runs=replace(shipped.runs, approval_pause_after_s=approval, paused_kill_after_s=paused),
        sandbox=SandboxSettings(
            idle_pause_s=idle, stop_after_s=stop, volume_ttl_minutes=volume_minutes, kill_after_s=killed
        ),
        retention=replace(shipped.retention, completed_days=kept_days, error_days=kept_days),
    )
    volume, kept = volume_minutes * 60, kept_days * DAY_S
    rising = all(shorter <= longer for shorter, longer in pairwise((approval, idle, stop, volume)))
    assert accepted(settings) == (rising and volume < min(paused, killed) and max(paused, killed) < kept)


@given(st.floats(0.5, 100), st.floats(0.5, 100))
def test_a_lease_outlives_two_heartbeats(lease_s: float, heartbeat_s: float) -> None:
    runs = replace(Settings().runs, lease_s=lease_s, heartbeat_s=heartbeat_s)
    assert accepted(replace(Settings(), runs=runs)) == (heartbeat_s * 2 <= lease_s)


def test_a_contradiction_names_both_settings_both_numbers_and_both_places() -> None:
    runs = replace(Settings().runs, approval_pause_after_s=1000)
    with pytest.raises(InvalidSetting) as refused:
        check_settings(replace(Settings(), runs=runs), nowhere)
    for part in ("runs.approval_pause_after_s", "sandbox.idle_pause_s", "1000 s", "900 s", "the place of"):
        assert part in refused.value.message


def test_two_models_of_one_id_and_a_model_of_no_provider_are_refused() -> None:
    demo = Settings().models[0]
    assert not accepted(replace(Settings(), models=(demo, demo)))
    assert not accepted(replace(Settings(), models=(ModelSettings(id="a", provider="none", name="a"),)))
    assert not accepted(replace(Settings(), default_model="none"))


@pytest.mark.parametrize(
    ("sandbox", "blamed", "said"),
    [
        (SandboxSettings(allow_hosts=("https://a.example",)), "sandbox.allow_hosts", "host"),
        (SandboxSettings(allow_hosts=("127.1",)), "sandbox.allow_hosts", "IP address"),
        (_with(hosts=("a b",)), "sandbox.dependencies.0.hosts", "host name"),
        (_with(hosts=("a.example",), allow_private=("10.0.0.1",)), "sandbox.dependencies.0.allow_private", "HOST:PORT"),
        (_with(secret_env="A KEY", hosts=("a.example",)), "sandbox.dependencies.0.secret_env", "environment variable"),
        (_with(secret_env="A_KEY"), "sandbox.dependencies.0.hosts", "hosts that A_KEY may be sent to"),
        (_with(secret_env="A_KEY", hosts=("*",)), "sandbox.dependencies.0.hosts", "by name"),
    ],
)  # fmt: skip
def test_hosts_and_secrets_that_make_no_sense_are_refused_by_name(
    sandbox: SandboxSettings, blamed: str, said: str
) -> None:
    with pytest.raises(InvalidSetting, match=said) as refused:
        check_settings(replace(Settings(), sandbox=sandbox), nowhere)
    assert refused.value.fields["setting"] == blamed


@pytest.mark.parametrize(
    ("packages", "said"),
    [
        (("npm:a", "not a package"), "expected npm:NAME@VERSION"),
        (("npm:a@1", "a@2"), "the version that another entry has"),
        (("pypi:ruamel.yaml==1", "pypi:ruamel_yaml==2"), "the version that another entry has"),
    ],
)
def test_what_is_no_package_and_two_versions_of_one_are_refused_by_name(packages: tuple[str, ...], said: str) -> None:
    dependencies = tuple(DependencySettings(package) for package in packages)
    with pytest.raises(InvalidSetting, match=said) as refused:
        check_settings(replace(Settings(), sandbox=SandboxSettings(dependencies=dependencies)), nowhere)
    assert refused.value.fields["setting"] == "sandbox.dependencies.1.package"


def test_packages_of_both_kinds_may_share_a_name_and_one_may_be_named_twice() -> None:
    dependencies = tuple(DependencySettings(package) for package in ("a@1", "npm:a@1", "pypi:a==1", ""))
    assert accepted(replace(Settings(), sandbox=SandboxSettings(dependencies=dependencies)))


def test_hosts_and_secrets_that_make_sense_are_accepted() -> None:
    assert accepted(replace(Settings(), sandbox=_with(secret_env="A_KEY", hosts=("*.a.example", "b.example:8443"))))
    assert accepted(replace(Settings(), sandbox=_with(secret_env="A_KEY", allow_private=("127.0.0.1:8080",))))
    assert accepted(replace(Settings(), sandbox=SandboxSettings(allow_hosts=("*", "[2606:4700::1]:8443"))))


GITHUB = ConnectionClient("id", kind="github")


@pytest.mark.parametrize(
    ("more", "secret", "names"),
    [
        ((), "GITHUB_TOKEN", ["service github", "sandbox.dependencies.0.secret_env is GITHUB_TOKEN"]),
        (
            (ConnectionClient("id", kind="linear", variable="GITHUB_TOKEN"),),
            "",
            ["connections.1.variable", "service linear", "connections.0.variable is GITHUB_TOKEN"],
        ),
        ((ConnectionClient("id", kind="linear", variable="PATH"),), "", ["connections.1.variable", "PATH"]),
        ((ConnectionClient("id", kind="linear", variable="lower_case"),), "", ["connections.1.variable", "lower_case"]),
        ((ConnectionClient("id", kind="linear", variable="PYTHONPATH"),), "", ["connections.1.variable", "PYTHONPATH"]),
    ],
)
def test_a_service_has_a_variable_of_its_own(more: tuple[ConnectionClient, ...], secret: str, names: list[str]) -> None:
    sandbox = _with(secret_env=secret, hosts=("ghe.corp",))
    with pytest.raises(InvalidSetting) as refused:
        check_settings(replace(Settings(), sandbox=sandbox, connections=(GITHUB, *more)), nowhere)
    assert all(name in refused.value.message for name in names), refused.value.message


def test_services_with_variables_of_their_own_are_accepted_also_beside_clients_for_mcp_servers() -> None:
    others = (ConnectionClient("id", kind="linear"), ConnectionClient("id", issuer="https://login.example.com"))
    sandbox = _with(secret_env="GHE_TOKEN", hosts=("ghe.corp",))
    assert accepted(replace(Settings(), sandbox=sandbox, connections=(GITHUB, *others, others[1])))
