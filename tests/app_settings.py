"""Settings with tables of apps in them."""

from __future__ import annotations

from dataclasses import field, fields, make_dataclass
from typing import Any

from outlast.kernel.settings import Settings


def settings_with(settings: Settings, *tables: Any) -> Settings:
    """The kernel's tables of these settings, and these tables of apps."""
    added = [(f"table_{number}", type(table), field(default=table)) for number, table in enumerate(tables)]
    kind = make_dataclass("Settings", added, bases=(Settings,), frozen=True, slots=True)
    made: Settings = kind(**{one.name: getattr(settings, one.name) for one in fields(Settings)})
    return made
