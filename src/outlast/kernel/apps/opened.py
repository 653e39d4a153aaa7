"""What exists once per server: apps open it from what the kernel has opened."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import field, fields
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from starlette.types import ASGIApp

from outlast.base.clock import Clock
from outlast.base.records import dataclass
from outlast.base.supervision.supervisor import Run, Supervisor
from outlast.db.blobs import FolderBlobs
from outlast.db.database import Database
from outlast.kernel.agents.additions import Addition
from outlast.kernel.agents.agent import Agent
from outlast.kernel.agents.workspaces import Workspaces
from outlast.kernel.apps import registry
from outlast.kernel.apps.app import App
from outlast.kernel.apps.ports import Implementation, Port
from outlast.kernel.http.allowed_hosts import KnownHosts
from outlast.kernel.http.surface import Surface
from outlast.kernel.runs.sweeper import Handler
from outlast.kernel.sandboxes.templates import Templates
from outlast.kernel.secrets.vault import Vault
from outlast.kernel.services import SandboxServices
from outlast.kernel.settings import Settings
from outlast.kernel.streams.hub import Hub
from outlast_sandbox.egress.redaction import Redactor

T = TypeVar("T")
Layer = Callable[[ASGIApp, Surface, KnownHosts], ASGIApp]  # puts an application around another one


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What an app's `open_app` returns; every part is optional.

    - `agents`: its agents.
    - `additions`: tools and texts for every listed agent, also those of other apps.
    - `implements`: the ports in the app's `opens`, as `[SEARCH.by(knowledge)]`.
    - `tasks`: services that run beside the requests, by name. The supervisor restarts one that fails.
    - `timers`: what to call when a timer is due, by its kind, with the id of its subject.
    - `layer`: wraps the HTTP application.
    """

    agents: Sequence[Agent] = ()
    additions: Sequence[Addition] = ()
    implements: Sequence[Implementation] = ()
    tasks: Mapping[str, Run] = field(default_factory=dict)
    timers: Mapping[str, Handler] = field(default_factory=dict)
    layer: Layer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The argument of `open_app`: what the kernel has opened. `folder` is the data directory; `environment` holds the
    values of secrets; `states` are the apps' own (`App.state`); `closing` closes what is pushed there, the last first,
    when the server has stopped. `opened` is what apps have opened, by name; `implementations` are of their ports.
    `runs_code`: True for the name of an agent that works in a sandbox; call it only once the server works."""

    settings: Settings
    database: Database
    blobs: FolderBlobs
    clock: Clock
    folder: Path
    environment: Mapping[str, str]
    vault: Vault
    supervisor: Supervisor
    hub: Hub
    templates: Templates
    states: Mapping[type, Any]
    closing: AsyncExitStack
    sandboxes: SandboxServices = field(default_factory=SandboxServices)
    opened: dict[str, Opened] = field(default_factory=dict)
    implementations: dict[Port[Any], Any] = field(default_factory=dict)
    runs_code: Callable[[str], bool] = field(default=lambda _agent: False)

    @property
    def workspaces(self) -> Workspaces:
        egress = self.sandboxes.egress
        placeholders = None if egress is None else egress.placeholders
        return Workspaces(self.database, self.sandboxes.manager, self.blobs, placeholders)

    def implementation(self, port: Port[T]) -> T:
        """Another app's implementation of a port that it `opens`, or the `empty` one. Opens that app first."""
        for app in registry.load().apps:
            if port in app.opens and port not in self.implementations:
                self.open(app)
        found: T = self.implementations.get(port, port.empty)
        return found

    def known_secrets(self) -> Redactor:
        """Redacts keys and secrets that this server finds in its environment: no log and no memory may show them."""
        tables = (getattr(self.settings, field.name) for field in fields(self.settings))
        names = [provider.key_env for provider in self.settings.providers.values()]
        names += [getattr(one, "key_env", one.api_key_env) for one in tables if hasattr(one, "api_key_env")]
        if self.settings.sandbox is not None:
            names += [dependency.secret_env for dependency in self.settings.sandbox.dependencies]
        return Redactor(self.environment.get(name, "").encode() for name in names if name)

    def open(self, app: App) -> Opened:
        """What the app has opened; opens it at the first call."""
        if app.name not in self.opened:
            opened: Opened = import_module(app.server).open_app(self) if app.server else Opened()
            self.opened[app.name] = opened
            self.implementations.update(opened.implements)
        return self.opened[app.name]
