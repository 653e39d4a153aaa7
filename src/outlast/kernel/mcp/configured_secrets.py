"""Secrets of the configuration for MCP servers that the code of agents names."""

import os
from collections.abc import Mapping

from outlast.base.mcp_errors import McpSecretUnusable
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast_sandbox.host_patterns import parse_pattern


class ConfiguredSecrets:
    """The secrets that `[[sandbox.dependencies]]` declare; their values are variables of the server's environment."""

    def __init__(self, settings: SandboxSettings | None, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._hosts: dict[str, list[str]] = {}
        for one in settings.dependencies if settings is not None else ():
            if one.secret_env:
                self._hosts.setdefault(one.secret_env, []).extend(one.hosts)

    def value(self, name: str, host: str, port: int) -> str | None:
        """The value of a secret for a host; None if the configuration does not declare it. Raises
        `McpSecretUnusable`."""
        if name not in self._hosts:
            return None
        if not any(parse_pattern(pattern).matches(host, port) for pattern in self._hosts[name]):
            raise McpSecretUnusable(
                f"The secret {name} is not for the host {host}.",
                hint=f"Add the host to the [[sandbox.dependencies]] of {name}.",
                secret=name,
            )
        value = self._environment.get(name)
        if not value:
            raise McpSecretUnusable(f"The secret {name} has no value: the server's variable is not set.", secret=name)
        return value
