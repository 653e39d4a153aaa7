"""The prompt's text about the network of the sandbox: the hosts it reaches, and its secrets, without their values."""

from collections.abc import Sequence
from typing import Final

from outlast.kernel.sandboxes.egress.policy import policy_of
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast_sandbox.egress.rules import Policy, SecretRule

MAX_HOSTS: Final = 40
NONE: Final = "It has no network."


def network_words(settings: SandboxSettings) -> str:
    """A sentence or two for the system prompt; the same for every thread, so that it stays in the models' caches."""
    policy = policy_of(settings)
    if not policy.opens:
        return NONE
    told = [f"Its network reaches {_listed(_hosts(policy))}, by HTTP and HTTPS, and nothing else."]
    if policy.secrets:
        secrets = "; ".join(f"{rule.name} for {_listed(_hosts_of(rule))}" for rule in policy.secrets)
        told.append(
            f"These environment variables stand for secrets: {secrets}. Use them in request headers as if they held "
            "the value: it is inserted on the way, for these hosts only. You cannot see it and do not need to."
        )
    return "\n".join(told)


def _hosts(policy: Policy) -> list[str]:
    found = [str(pattern) for pattern in policy.allow]
    found += [host for rule in policy.secrets for host in _hosts_of(rule)]
    found += [f"{host}:{port}" for host, port in sorted(policy.private)]
    return list(dict.fromkeys("any public host" if host == "*" else host for host in found))


def _hosts_of(rule: SecretRule) -> list[str]:
    private = [f"{host}:{port}" for host, port in sorted(rule.private)]
    return [*(str(pattern) for pattern in rule.hosts), *private]


def _listed(hosts: Sequence[str]) -> str:
    rest = len(hosts) - MAX_HOSTS
    return ", ".join(hosts[:MAX_HOSTS]) + (f" and {rest} more" if rest > 0 else "")
