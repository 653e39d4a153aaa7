"""The packages of all apps, in the order in which hooks are called. `kernel/apps` imports them on demand."""

from typing import Final

APPS: Final = (
    "outlast.apps.chat",
    "outlast.apps.screens",
    "outlast.apps.pages",
    "outlast.apps.documents",
    "outlast.apps.knowledge",
    "outlast.apps.skills",
    "outlast.apps.web",
)
