"""The configured sandbox provider of the server."""

import os
from dataclasses import asdict
from pathlib import Path

from outlast.base.data_directory import cache_directory, node_of
from outlast.kernel.deployment import read_file
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.sandboxes.translation import translated, translated_provider
from outlast_sandbox.interface import SandboxProvider
from outlast_sandbox.providers import registry
from outlast_sandbox.providers.setup import ProviderSetup, SandboxHost


def provider_setup(settings: SandboxSettings, data_dir: Path) -> ProviderSetup:
    """The set-up of the chosen provider, for the server that owns `data_dir`. Each provider has its own state folder,
    so that a server finds its old state when its provider is changed and changed back."""
    own = "sandboxes" if settings.provider == "local" else f"sandboxes-{settings.provider}"
    return ProviderSetup(
        state_dir=data_dir / own,
        cache_dir=cache_directory(),
        owner=node_of(data_dir),
        deployment=known.id if (known := read_file(data_dir)) is not None else "",
        options=settings.options,
        region=settings.region,
        hosts=_hosts(settings),
    )


def open_provider(settings: SandboxSettings, data_dir: Path) -> SandboxProvider:
    """The chosen provider; nothing is started. Raises `InvalidSetting` for an unknown name (listing the known ones) and
    for unknown options, `StartRefused` if it cannot be loaded."""
    return _open(settings.provider, provider_setup(settings, data_dir))


def check_provider(settings: SandboxSettings) -> None:
    """Check that the settings name an existing provider, with known options. Raises as `open_provider`."""
    nowhere = Path(os.devnull)
    setup = ProviderSetup(
        state_dir=nowhere,
        cache_dir=nowhere,
        owner="",
        options=settings.options,
        region=settings.region,
        hosts=_hosts(settings),
    )
    _open(settings.provider, setup)


def _hosts(settings: SandboxSettings) -> tuple[SandboxHost, ...]:
    return tuple(SandboxHost(**asdict(host)) for host in settings.hosts)


def _open(name: str, setup: ProviderSetup) -> SandboxProvider:
    with translated():
        return translated_provider(registry.open_provider(name, setup))
