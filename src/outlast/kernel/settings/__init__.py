"""The settings of an operator: one frozen `Settings`, read once at start.  Terms: a *setting* has a dotted name
(`runs.max_steps`), a type, a unit, bounds, a default and one sentence; a *table* is a class of settings, in the
`settings.py` of the noun that it belongs to; those of the whole server are in `server.py`. Apps name theirs in
`SETTINGS` of their package. A setting comes from the strongest of four *sources*: a flag, an environment variable
(`OUTLAST_RUNS_MAX_STEPS`), the TOML file, the default. `load.py` reads them, `rules.py` refuses contradictions;
`base/settings` converts values to their types and finds the line of a key. An invalid setting stops the start with its
name, the expected value, and the place where it was read. docs/reference/configuration.md is generated from the tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, make_dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from outlast.base.settings.fields import setting
from outlast.kernel.accounts.settings import AuthSettings
from outlast.kernel.agents.settings import AgentSettings
from outlast.kernel.apps.declared_names import KERNEL, DeclaredNames
from outlast.kernel.apps.packages import declared_packages
from outlast.kernel.connections.settings import ConnectionClient
from outlast.kernel.credits.settings import CreditSettings
from outlast.kernel.limits.settings import LimitSettings
from outlast.kernel.locks.settings import LockSettings
from outlast.kernel.mcp.settings import McpSettings
from outlast.kernel.models.settings import (
    DEMO_MODELS,
    DEMO_PROVIDERS,
    EmbeddingSettings,
    ModelSettings,
    ProviderSettings,
)
from outlast.kernel.runs.settings import (
    SHIPPED_PROFILES,
    PolicyRule,
    ProfileSettings,
    RetentionSettings,
    RetrySettings,
    RunSettings,
)
from outlast.kernel.runs.shipped_policy import SHIPPED_POLICY
from outlast.kernel.sandboxes.screen_settings import ScreenSettings
from outlast.kernel.sandboxes.settings import SandboxSettings
from outlast.kernel.schedules.settings import ScheduleSettings
from outlast.kernel.secrets.settings import SecretSettings
from outlast.kernel.settings.server import (
    BlobSettings,
    DatabaseSettings,
    DemoSettings,
    LiveSettings,
    LogSettings,
    ServerSettings,
)
from outlast.kernel.streams.settings import StreamSettings
from outlast.kernel.webhooks.settings import WebhookSettings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, frozen. Created by `load_settings`; `Settings()` is an empty configuration without apps."""

    default_model: str = setting(
        "Model used if none is chosen; if empty, the first. Without [[models]], the one provider's name of its model.",
        "",
    )
    server: ServerSettings = setting("", factory=ServerSettings)
    providers: Mapping[str, ProviderSettings] = setting("", factory=lambda: DEMO_PROVIDERS)
    models: tuple[ModelSettings, ...] = setting("", DEMO_MODELS)
    database: DatabaseSettings = setting("", factory=DatabaseSettings)
    live: LiveSettings = setting("", factory=LiveSettings)
    runs: RunSettings = setting("", factory=RunSettings)
    profiles: Mapping[str, ProfileSettings] = setting("", factory=lambda: SHIPPED_PROFILES)
    agents: AgentSettings = setting("", factory=AgentSettings)
    credits: CreditSettings = setting("", factory=CreditSettings)
    limits: LimitSettings = setting("", factory=LimitSettings)
    sandbox: SandboxSettings | None = setting("", factory=SandboxSettings)
    screens: ScreenSettings = setting("", factory=ScreenSettings)
    embeddings: EmbeddingSettings = setting("", factory=EmbeddingSettings)
    demo: DemoSettings = setting("", factory=DemoSettings)
    policy: tuple[PolicyRule, ...] = setting("", SHIPPED_POLICY)
    locks: LockSettings = setting("", factory=LockSettings)
    secrets: SecretSettings = setting("", factory=SecretSettings)
    schedules: ScheduleSettings = setting("", factory=ScheduleSettings)
    retention: RetentionSettings = setting("", factory=RetentionSettings)
    retry: RetrySettings = setting("", factory=RetrySettings)
    blobs: BlobSettings = setting("", factory=BlobSettings)
    auth: AuthSettings = setting("", factory=AuthSettings)
    streams: StreamSettings = setting("", factory=StreamSettings)
    webhooks: WebhookSettings = setting("", factory=WebhookSettings)
    mcp: McpSettings = setting("", factory=McpSettings)
    connections: tuple[ConnectionClient, ...] = setting("", ())
    logs: LogSettings = setting("", factory=LogSettings)

    def of(self, table: type[T]) -> T:
        """An app's table, by the class that declares it, or by the class in the kernel that this one extends; the
        defaults if no app declares it."""
        tables = (getattr(self, field.name) for field in fields(self))
        return next((one for one in tables if isinstance(one, table)), None) or table()


def settings_class() -> type[Settings]:
    """`Settings` with the tables of the declared apps. Raises `StartRefused` with both names for a table that is
    declared twice."""
    return _with_tables(declared_packages())


@cache
def _with_tables(packages: tuple[str, ...]) -> type[Settings]:
    owners = DeclaredNames()
    for field in fields(Settings):
        owners.take("table of settings", field.name, KERNEL)
    tables: list[tuple[str, type, Any]] = []
    for package in packages:
        for name, table in getattr(import_module(package), "SETTINGS", {}).items():
            owners.take("table of settings", name, package)
            tables.append((name, table, setting("", factory=table)))
    return make_dataclass("Settings", tables, bases=(Settings,), frozen=True, slots=True)
