"""The packages of all apps, in the order in which they are asked. `kernel/apps` imports them when they are needed."""

from typing import Final

APPS: Final = (
    "outlast.apps.chat",
    "outlast.apps.screens",
    "outlast.apps.pages",
    "outlast.apps.documents",
    "outlast.apps.knowledge",
)
