"""What an agent is told of the network of its sandbox."""

from __future__ import annotations

from outlast.kernel.agents.network_prompt import NONE, network_words
from outlast.kernel.sandboxes.settings import DependencySettings, SandboxSettings


def test_without_hosts_there_is_no_network() -> None:
    assert network_words(SandboxSettings()) == NONE


def test_hosts_and_secrets_are_named_and_no_value_is() -> None:
    told = network_words(
        SandboxSettings(
            allow_hosts=("docs.example", "*.cdn.example"),
            dependencies=(
                DependencySettings(secret_env="A_KEY", hosts=("api.a.example",), allow_private=("10.0.0.1:80",)),
                DependencySettings("npm:b", hosts=("docs.example",)),
            ),
        )
    )
    assert told.startswith("Its network reaches docs.example, *.cdn.example, api.a.example, 10.0.0.1:80, by HTTP")
    assert "A_KEY for api.a.example, 10.0.0.1:80." in told


def test_a_long_list_is_cut_and_everything_is_called_so() -> None:
    hosts = tuple(f"h{number}.example" for number in range(45))
    assert " and 5 more, by HTTP" in network_words(SandboxSettings(allow_hosts=hosts))
    assert "reaches any public host, by" in network_words(SandboxSettings(allow_hosts=("*",)))
