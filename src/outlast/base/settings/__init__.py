"""What an operator can set: one frozen `Settings`, read once at start.

Words: a *setting* has a dotted name (`runs.max_steps`), a type, a unit, bounds, a default and one sentence, all in the
tables of `tables.py`; a *section* is one of those tables. A setting comes from the strongest of four *sources*: a flag,
an environment variable (`OUTLAST_RUNS_MAX_STEPS`), the TOML file, the default. `load.py` reads them, `values.py`
turns one into its type, `rules.py` refuses what contradicts itself, `toml_lines.py` knows the line a key stands on.
A setting that cannot be used stops the start with its name, what was expected, and where it was read.
"""

from outlast.base.settings.fields import SecretUrl
from outlast.base.settings.load import load_settings
from outlast.base.settings.policy import PolicyRule
from outlast.base.settings.tables import (
    CreditSettings,
    DatabaseSettings,
    DemoSettings,
    DependencySettings,
    DocumentSettings,
    EmbeddingSettings,
    KnowledgeSettings,
    LimitSettings,
    ModelSettings,
    PageSettings,
    ProfileSettings,
    ProviderSettings,
    RunSettings,
    SandboxSettings,
    ServerSettings,
    Settings,
)

__all__ = [
    "CreditSettings",
    "DatabaseSettings",
    "DemoSettings",
    "DependencySettings",
    "DocumentSettings",
    "EmbeddingSettings",
    "KnowledgeSettings",
    "LimitSettings",
    "ModelSettings",
    "PageSettings",
    "PolicyRule",
    "ProfileSettings",
    "ProviderSettings",
    "RunSettings",
    "SandboxSettings",
    "SecretUrl",
    "ServerSettings",
    "Settings",
    "load_settings",
]
