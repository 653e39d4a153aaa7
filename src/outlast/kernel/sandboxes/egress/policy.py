"""The hosts that the settings, and saved secrets, allow sandboxes to reach."""

from collections.abc import Iterable
from dataclasses import replace

from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.secrets.store import OpenedHosts
from outlast_sandbox.egress.rules import Policy, SecretRule, names
from outlast_sandbox.host_patterns import HostPattern, parse_host_port, parse_pattern


def policy_of(settings: SandboxSettings) -> Policy:
    """The policy that [sandbox] describes; its patterns were checked when the settings were read."""
    allow = [*settings.allow_hosts]
    hosts: dict[str, list[HostPattern]] = {}
    own: dict[str, set[tuple[str, int]]] = {}
    private: set[tuple[str, int]] = set()
    for dependency in settings.dependencies:
        exceptions = {parse_host_port(text) for text in dependency.allow_private}
        private |= exceptions
        if dependency.secret_env:
            hosts.setdefault(dependency.secret_env, []).extend(map(parse_pattern, dependency.hosts))
            own.setdefault(dependency.secret_env, set()).update(exceptions)
        else:
            allow += dependency.hosts
    secrets = [SecretRule(name, tuple(found), frozenset(own[name])) for name, found in hosts.items()]
    return Policy(tuple(map(parse_pattern, allow)), tuple(secrets), frozenset(private))


def with_saved(policy: Policy, saved: Iterable[OpenedHosts]) -> Policy:
    """The policy, and the hosts of saved secrets. A name that the settings declare stays theirs."""
    known = set(names(policy))
    rules = [SecretRule(one.name, tuple(map(parse_pattern, one.hosts))) for one in saved if one.name not in known]
    return replace(policy, secrets=(*policy.secrets, *rules)) if rules else policy
