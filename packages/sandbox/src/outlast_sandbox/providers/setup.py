"""The arguments of a provider's constructor, and the parser of its options."""

import dataclasses
import os
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from outlast_sandbox.errors import InvalidSetting
from outlast_sandbox.interface import SandboxProvider

T = TypeVar("T")
_WORDS: Final[Mapping[type, str]] = types.MappingProxyType(
    {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxHost:
    """A machine with a container engine. `url`: `unix://`, `tcp://host:port` or `ssh://user@host`; `tls_*`: paths of
    PEM files; `labels`: what placement may ask for; `capacity`: the most sandboxes on it."""

    name: str
    url: str
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    labels: tuple[str, ...] = ()
    capacity: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSetup:
    """Passed to a provider's function. `options` is the table `[sandbox.options]` as read; `region` the setting of that
    name; `state_dir` a folder of this server for data that must survive a restart, `cache_dir` a folder shared by all
    this user's servers for data that can be created again (neither needs to exist yet); `owner` is this server's
    permanent name, with which it finds its own sandboxes (with `hosts`: the same for all servers of one database);
    `deployment` is the name that all servers of one database share ("" if there is none yet), with which a provider
    whose sandboxes all of them reach finds them; `secret` looks up an environment variable; `hosts` are the tables
    `[[sandbox.hosts]]`, the machines that sandboxes live on, for providers that know such."""

    state_dir: Path
    cache_dir: Path
    owner: str
    options: Mapping[str, Any] = field(default_factory=dict)
    region: str = ""
    deployment: str = ""
    secret: Callable[[str], str | None] = os.environ.get
    hosts: Sequence[SandboxHost] = ()


ProviderFunction = Callable[[ProviderSetup], SandboxProvider]


def read_options(kind: type[T], options: Mapping[str, Any], provider: str) -> T:
    """The options as an instance of the dataclass `kind`, whose fields are the known options, of type str, int, float
    or bool. Raises `InvalidSetting` with the option's name and the expected type, never its value."""
    known = typing.get_type_hints(kind)
    for name, value in options.items():
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise _refusal(name, provider, f"unknown option; known options: {listed}")
        if not _fits(value, known[name]):
            raise _refusal(name, provider, f"expected {_WORDS[known[name]]}")
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]  # every T here is a dataclass
    missing = [f.name for f in fields if f.default is dataclasses.MISSING and f.name not in options]
    if missing:
        raise _refusal(missing[0], provider, "it is required")
    return kind(**options)


def _fits(value: object, wanted: type) -> bool:
    if wanted is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))


def _refusal(name: str, provider: str, why: str) -> InvalidSetting:
    return InvalidSetting(
        f"sandbox.options.{name}: {why} (provider {provider}).",
        hint="docs/guides/sandbox-providers.md lists each provider's options.",
        setting=f"sandbox.options.{name}",
    )
