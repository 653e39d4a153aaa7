"""Names and hosts of saved secrets."""

import pytest

from outlast.base.errors import MalformedInput
from outlast.base.secret_errors import SecretHostRefused
from outlast.kernel.secrets.rules import checked_hosts, checked_name


@pytest.mark.parametrize("name", ["LINEAR_API_KEY", "K", "NPM_TOKEN", "NODE_AUTH_TOKEN"])
def test_a_name_is_that_of_an_environment_variable(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "key", "1KEY", "A-B", "A" * 81, "PATH", "LD_PRELOAD", "PYTHONPATH", "OUTLAST_X"])
def test_other_names_and_those_that_programs_read_are_refused(name: str) -> None:
    with pytest.raises(MalformedInput):
        checked_name(name)


def test_hosts_are_written_in_one_form_and_once() -> None:
    assert checked_hosts(["API.Example.org", "api.example.org.", "*.example.org:8443"], ["*"]) == [
        "api.example.org",
        "*.example.org:8443",
    ]


@pytest.mark.parametrize("hosts", [[], ["*"], ["not a host"], ["https://example.org"], ["a.example"] * 21])
def test_no_host_all_hosts_and_what_is_none_are_refused(hosts: list[str]) -> None:
    with pytest.raises(MalformedInput):
        checked_hosts(hosts, ["*"])


@pytest.mark.parametrize(
    ("allowed", "asked", "fits"),
    [
        ("*", "*.example.org", True),
        ("*:443", "example.org", False),
        ("*:443", "example.org:443", True),
        ("*.example.org", "api.example.org", True),
        ("*.example.org", "*.example.org", True),
        ("*.example.org", "*.api.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "example.org.evil.test", False),
        ("example.org", "*.example.org", False),
        ("example.org", "example.org:8443", True),
        ("example.org:8443", "example.org", False),
    ],
)
def test_the_operator_says_which_hosts_may_be_named(allowed: str, asked: str, fits: bool) -> None:
    if fits:
        assert checked_hosts([asked], ["other.test", allowed])
    else:
        with pytest.raises(SecretHostRefused):
            checked_hosts([asked], ["other.test", allowed])
