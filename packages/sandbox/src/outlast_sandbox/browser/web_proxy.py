"""The only network access of a browser that an agent uses: public hosts, and the ports of one sandbox."""

import socket
from collections.abc import Sequence
from typing import Final

from outlast_sandbox.browser.chromium import through_proxy
from outlast_sandbox.egress.dialer import DialInside, Network
from outlast_sandbox.egress.refusals import Refused
from outlast_sandbox.egress.snapshot_build_proxy import serve_allow_list
from outlast_sandbox.errors import NotFound

MAX_TEXTS: Final = 5
FORBIDDEN: Final = ("host_refused", "address_refused")


class WebProxy:
    """Connects to ports 80 and 443 of public addresses, checked after the name was resolved, and to the private ones in
    `allow_private` (`HOST:PORT`). Loopback addresses lead to the ports of a sandbox: that of `inside`, while it is set.
    `refused` and `failed` say, since `forget`, what may not be reached and what could not be."""

    def __init__(self, allow_private: Sequence[str] = (), network: Network | None = None) -> None:
        self._allow_private, self._network = allow_private, network
        self.inside: DialInside | None = None
        self.refused: list[str] = []
        self.failed: list[str] = []

    def forget(self) -> None:
        self.refused.clear()
        self.failed.clear()

    def flags(self, way_out: int) -> Sequence[str]:
        """Those of Chromium."""
        return through_proxy(way_out)

    async def serve(self, listener: socket.socket) -> None:
        """Serve until cancelled; owns the listener."""
        await serve_allow_list(
            listener,
            ["*"],
            allow_private=self._allow_private,
            network=self._network,
            inside=self._dial,
            on_refusal=self._note,
        )

    async def _dial(self, port: int) -> socket.socket:
        if self.inside is None:
            raise NotFound("loopback addresses belong to the agent's own sandbox, and no page of it is open")
        return await self.inside(port)

    def _note(self, refused: Refused) -> None:
        text = refused.message.replace("The sandbox is not", "A page is not")
        texts = self.refused if refused.code in FORBIDDEN else self.failed
        if text not in texts and len(texts) < MAX_TEXTS:
            texts.append(text)
