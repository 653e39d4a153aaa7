"""Links to pages as the layer uses them: opened, followed, and asked again whether they are good."""

from collections.abc import AsyncIterator
from typing import Protocol

from outlast.apps.pages.embeds import actions
from outlast.apps.pages.embeds.actions import Embedded
from outlast.kernel.http.event_stream import OpenStreams
from outlast.kernel.services import Services


class Embeds(Protocol):
    """What the layer asks. `open` and `follow` raise `NotFound` for a link that is no good."""

    @property
    def streams(self) -> OpenStreams: ...

    async def open(self, page_id: str, secret: str) -> Embedded: ...

    async def follow(self, page_id: str, secret: str, seen: str) -> AsyncIterator[bytes]: ...

    async def is_good(self, page_id: str, secret: str) -> bool: ...


class StoredEmbeds:
    """Those of one server's database."""

    def __init__(self, services: Services, streams: OpenStreams) -> None:
        self._services = services
        self.streams = streams

    async def open(self, page_id: str, secret: str) -> Embedded:
        return await actions.read_embedded(self._services, page_id, secret)

    async def follow(self, page_id: str, secret: str, seen: str) -> AsyncIterator[bytes]:
        return await actions.follow_embedded(self._services, page_id, secret, seen)

    async def is_good(self, page_id: str, secret: str) -> bool:
        return await actions.is_link_good(self._services, page_id, secret)
