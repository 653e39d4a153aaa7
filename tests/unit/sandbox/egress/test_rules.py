"""What may be reached, and which secrets go where."""

from __future__ import annotations

import pytest

from outlast.kernel.sandboxes.egress.policy import policy_of
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings
from outlast_sandbox.egress.rules import (
    Policy,
    Target,
    direct_names,
    leads_inside,
    may_connect,
    may_reach,
    same_authority,
    secrets_of,
    setting_for,
)

POLICY = policy_of(
    SandboxSettings(
        allow_hosts=("docs.example", "*.cdn.example"),
        dependencies=(
            DependencySettings("npm:a", secret_env="A", hosts=("api.a.example", "shared.example")),
            DependencySettings("npm:b", secret_env="B", hosts=("shared.example", "*.b.example:8443")),
            DependencySettings("npm:c", secret_env="A", hosts=("late.a.example",), allow_private=("127.0.0.1:9000",)),
            DependencySettings("npm:d", hosts=("plain.d.example",), allow_private=("10.0.0.5:443",)),
        ),
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("docs.example", 443, True),
        ("www.docs.example", 443, False),
        ("x.cdn.example", 80, True),
        ("api.a.example", 443, True),
        ("plain.d.example", 80, True),
        ("x.b.example", 8443, True),
        ("x.b.example", 443, False),
        ("127.0.0.1", 9000, True),
        ("10.0.0.5", 443, True),
        ("10.0.0.5", 80, False),
        ("169.254.169.254", 80, False),
    ],
)
def test_what_is_named_may_be_reached(host: str, port: int, allowed: bool) -> None:
    assert may_reach(POLICY, host, port) is allowed


@pytest.mark.parametrize(
    ("host", "port", "encrypted", "names"),
    [
        ("api.a.example", 443, True, ("A",)),
        ("api.a.example", 80, False, ()),
        ("api.a.example", 80, True, ("A",)),
        ("late.a.example", 443, True, ("A",)),
        ("shared.example", 443, True, ("A", "B")),
        ("docs.example", 443, True, ()),
        ("127.0.0.1", 9000, False, ("A",)),
        ("127.0.0.1", 9000, True, ("A",)),
        ("127.0.0.1", 9001, True, ()),
        ("10.0.0.5", 443, True, ()),
    ],
)
def test_a_secret_goes_to_its_hosts_by_tls_and_to_its_exceptions(
    host: str, port: int, encrypted: bool, names: tuple[str, ...]
) -> None:
    assert secrets_of(POLICY, Target(host, port, encrypted)) == names


def test_loopback_is_the_sandboxs_own_but_for_exceptions_and_never_gets_a_secret_then() -> None:
    careless = policy_of(
        SandboxSettings(
            dependencies=(
                DependencySettings(
                    "npm:a", secret_env="A", hosts=("localhost", "127.0.0.1", "x.localhost"),
                    allow_private=("127.0.0.1:9000",),
                ),
            )
        )
    )  # fmt: skip
    for host in ("localhost", "127.0.0.1", "127.9.9.9", "::1", "x.localhost"):
        assert leads_inside(careless, host, 443)
        assert secrets_of(careless, Target(host, 443, True)) == ()
    assert not leads_inside(careless, "127.0.0.1", 9000)
    assert direct_names(careless) == ["localhost", "::1"]


@pytest.mark.parametrize(
    ("host", "address", "port", "allowed"),
    [
        ("docs.example", "93.184.216.34", 443, True),
        ("docs.example", "10.0.0.5", 443, True),
        ("docs.example", "10.0.0.6", 443, False),
        ("docs.example", "127.0.0.1", 443, False),
        ("127.0.0.1", "127.0.0.1", 9000, True),
        ("docs.example", "127.0.0.1", 9000, True),
    ],
)
def test_an_address_is_judged_after_the_name(host: str, address: str, port: int, allowed: bool) -> None:
    assert may_connect(POLICY, host, address, port) is allowed


def test_without_anything_named_nothing_opens() -> None:
    assert not Policy().opens
    assert not policy_of(SandboxSettings(dependencies=(DependencySettings("npm:a"),))).opens
    assert POLICY.opens


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("api.a.example", True),
        ("API.a.example.", True),
        ("api.a.example:443", True),
        ("api.a.example:80", False),
        ("api.b.example", False),
        ("*", False),
        ("*.a.example", False),
        ("", False),
        ("api.a.example, evil.example", False),
        ("me@api.a.example", False),
    ],
)
def test_a_host_header_names_the_target_or_does_not(text: str, same: bool) -> None:
    assert same_authority(text, Target("api.a.example", 443, True)) is same


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("new.example", 443, '"new.example"'),
        ("new.example", 8443, '"new.example:8443"'),
        ("docs.example", 8443, "ports 80 and 443 only"),
        ("10.9.9.9", 80, "allow_private"),
    ],
)
def test_a_refusal_names_the_setting_that_would_allow_it(host: str, port: int, said: str) -> None:
    assert said in setting_for(POLICY, host, port)
