"""The port: what the hub and presence need of a transport between nodes."""

from collections.abc import Callable
from typing import Any, Protocol

from outlast.kernel.streams.channel import Channel


class Live(Protocol):
    """Carries what is written on this node to followers elsewhere, and what is written elsewhere to followers here.

    All calls but `run` and `aclose` return at once and belong on the event loop. Losing everything that an adapter
    holds loses no event: the database has them all. Each line is shown once and in order, and none of an older attempt
    after one of a newer.
    """

    def writes(self, channel: Channel) -> None:
        """A run is written on this node from now on."""

    def wrote(self, channel: Channel) -> None:
        """It is no longer written here; all of it is in the database."""

    def follows(self, channel: Channel) -> None:
        """The channel has a first follower here and no writer: fill it (`Channel.feed`)."""

    def left(self, channel: Channel) -> None:
        """It has no follower any more, or a writer here: stop filling it."""

    def rung(self, channel: Channel) -> None:
        """There is news in the database for a channel that this adapter fills."""

    def saves_soon(self, run_id: str) -> bool:
        """True if followers elsewhere see this run's text only once it is saved."""

    def on_urgent(self, listener: Callable[[], None]) -> None:
        """Call `listener` when text should be saved at once, because somewhere a follower waits for it."""

    def tell(self, kind: str, body: Any) -> None:
        """Send news to all other nodes: a JSON value of at most 7,000 bytes. It may be lost."""

    def on_news(self, kind: str, listener: Callable[[Any], None]) -> None:
        """Call `listener` with each `body` that another node tells under this kind."""

    def on_joined(self, listener: Callable[[], None]) -> None:
        """Call `listener` when this node should tell again what holds: another one has started, or missed news."""

    async def run(self) -> None:
        """Until cancelled: the adapter's work beside the server."""

    async def aclose(self) -> None:
        """Close its connections. Safe to repeat."""
