"""One node: the hub's memory is all there is, and nothing costs anything."""

from collections.abc import Callable
from typing import Any

from outlast.kernel.streams.channel import Channel


class MemoryLive:
    """Does nothing: every follower is on the node that writes."""

    def writes(self, channel: Channel) -> None:
        pass

    def wrote(self, channel: Channel) -> None:
        pass

    def follows(self, channel: Channel) -> None:
        pass

    def left(self, channel: Channel) -> None:
        pass

    def rung(self, channel: Channel) -> None:
        channel.ring()

    def saves_soon(self, run_id: str) -> bool:
        return False

    def on_urgent(self, listener: Callable[[], None]) -> None:
        pass

    def tell(self, kind: str, body: Any) -> None:
        pass

    def on_news(self, kind: str, listener: Callable[[Any], None]) -> None:
        pass

    def on_joined(self, listener: Callable[[], None]) -> None:
        pass

    async def run(self) -> None:
        pass

    async def aclose(self) -> None:
        pass
