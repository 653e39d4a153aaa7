"""How the local provider is made from the settings."""

from dataclasses import dataclass

from outlast.kernel.sandboxes.interface import SandboxProvider
from outlast.kernel.sandboxes.providers.setup import ProviderSetup, read_options

from .provider import LocalProvider


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """It has none: what it needs to know it finds out by itself."""


def open_provider(setup: ProviderSetup) -> SandboxProvider:
    read_options(LocalOptions, setup.options, "local")
    return LocalProvider(setup.state_dir, setup.cache_dir)
