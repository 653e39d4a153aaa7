"""Finds a provider by its name. No provider's code is imported before it is chosen."""

import importlib
import importlib.util
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from outlast_sandbox.errors import InvalidSetting, StartRefused
from outlast_sandbox.interface import SandboxProvider

from .setup import ProviderFunction, ProviderSetup

GROUP: Final = "outlast.sandbox_providers"


@dataclass(frozen=True, slots=True)
class Known:
    """A provider that can be chosen. `origin` is its package; `missing` the extra to install first; `unproven` a
    note on untested features."""

    name: str
    origin: str
    missing: str = ""
    unproven: str = ""


@dataclass(frozen=True, slots=True)
class _BuiltIn:
    module: str
    needs: str = ""  # the module that its extra of the same name installs
    unproven: str = ""


UNPROVEN_DENO: Final = "unproven: never run against the real service"
WITH_HOSTS: Final = "docker"  # of the built-in ones
_HERE: Final = "outlast_sandbox.providers"
BUILT_IN: Final[Mapping[str, _BuiltIn]] = types.MappingProxyType(
    {
        "local": _BuiltIn(f"{_HERE}.local.provider"),
        "docker": _BuiltIn(f"{_HERE}.docker.provider"),
        "e2b": _BuiltIn(f"{_HERE}.e2b.provider", needs="e2b"),
        "deno": _BuiltIn(f"{_HERE}.deno.provider", needs="deno_sandbox", unproven=UNPROVEN_DENO),
    }
)


def known_providers() -> list[Known]:
    """All providers that can be chosen here: those that ship with Outlast, then those of other packages by name."""
    return [*_built_in(), *_of_others()]


def open_provider(name: str, setup: ProviderSetup) -> SandboxProvider:
    """The provider of that name, not started. Raises `InvalidSetting` for an unknown name (with the known ones) and for
    unknown options, `StartRefused` if it cannot be loaded."""
    if setup.hosts and name in BUILT_IN and name != WITH_HOSTS:
        raise InvalidSetting(
            f"sandbox.hosts: the provider {name!r} has no hosts.",
            hint=f'Set provider = "{WITH_HOSTS}" in the section [sandbox], or remove [[sandbox.hosts]].',
            setting="sandbox.hosts",
        )
    return _function(name)(setup)


def _function(name: str) -> ProviderFunction:
    built_in = BUILT_IN.get(name)
    if built_in is not None:
        if not _installed(built_in.needs):
            raise _not_installed(name, built_in.needs)
        function: ProviderFunction = importlib.import_module(built_in.module).open_provider
        return function
    for entry in _entries():
        if entry.name == name:
            return _load(entry)
    listed = ", ".join(sorted(known.name for known in known_providers()))
    raise InvalidSetting(
        f"sandbox.provider: unknown provider {name!r}; installed: {listed}.",
        hint=f"Choose one of them, or install the package that has it (entry point group {GROUP}).",
        setting="sandbox.provider",
        expected=listed,
    )


def _load(entry: EntryPoint) -> ProviderFunction:
    try:
        function: ProviderFunction = entry.load()
    except Exception as error:  # the code of another package runs here
        raise StartRefused(
            f"The sandbox provider {entry.name!r} ({_origin(entry)}) cannot be loaded: {error}",
            hint=f"Install or repair that package, or choose another provider; it names {entry.value}.",
            provider=entry.name,
        ) from error
    return function


def _built_in() -> Iterator[Known]:
    for name, built_in in BUILT_IN.items():
        missing = "" if _installed(built_in.needs) else f"./packages/sandbox[{name}]"
        yield Known(name, "Outlast", missing, built_in.unproven)


def _of_others() -> Iterator[Known]:
    for entry in _entries():
        if entry.name not in BUILT_IN:
            yield Known(entry.name, _origin(entry))


def _entries() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda entry: entry.name)


def _origin(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value


def _installed(module: str) -> bool:
    return not module or importlib.util.find_spec(module) is not None


def _not_installed(name: str, module: str) -> StartRefused:
    return StartRefused(
        f"sandbox.provider is {name!r}, and the package {module} is not installed.",
        hint=f"Install it, in Outlast's folder: pip install -e './packages/sandbox[{name}]'",
        setting="sandbox.provider",
    )
