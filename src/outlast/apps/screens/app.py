"""The declaration of the screens app."""

from typing import Final

from outlast.apps.screens import tables
from outlast.apps.screens.design_systems import DesignSystems
from outlast.apps.screens.image_host_actions import ScreenImageHosts
from outlast.apps.screens.screen_queue import ScreenQueue
from outlast.apps.screens.shapes import ScreenChanged, ScreenDeleted
from outlast.apps.screens.subject import SCREEN
from outlast.base.events import EventType
from outlast.kernel.apps.app import App
from outlast.kernel.previews.ports import IMAGE_HOSTS

APP: Final = App(
    name="screens",
    tables=[tables.screens, tables.screen_image_hosts],
    prefixes={"screen": "scr"},
    subjects=[SCREEN],
    state=lambda _settings: [DesignSystems(), ScreenQueue()],
    server="outlast.apps.screens.server",
    implements=[IMAGE_HOSTS.by(ScreenImageHosts())],
    events=[
        EventType(
            "ScreenChangedEvent", ScreenChanged, "screen.created", "screen.updated", for_webhooks=("screen.created",)
        ),
        EventType("ScreenDeletedEvent", ScreenDeleted, "screen.deleted", for_webhooks=True),
    ],
    routes=["outlast.apps.screens.edits.routes", "outlast.apps.screens.file_routes", "outlast.apps.screens.routes"],
)
