"""Tells other nodes who is present here, and the board who is present there."""

from collections.abc import Mapping
from typing import Any, Final

import anyio
import orjson

from outlast.base.clock import Clock
from outlast.kernel.presence.board import PresenceBoard
from outlast.kernel.presence.elsewhere import Shown
from outlast.kernel.projects.shapes import MemberData
from outlast.kernel.streams.live.port import Live

KIND: Final = "presence"
REPEAT_S: Final = 10.0
GATHER_S: Final = 0.02  # changes of one moment go together
MOST_BYTES: Final = 6_500  # of one message


class PresenceNews:
    """Connects a node's board with those of other nodes. In memory: what changed and is not told yet."""

    def __init__(self, board: PresenceBoard, live: Live, clock: Clock, node_id: str) -> None:
        self._board, self._live, self._clock, self._node_id = board, live, clock, node_id
        self._changed: dict[tuple[str, str], str] = {}  # rooms and users, with the project of a document
        self._wake = anyio.Event()
        board.on_own_change(self._note)
        live.on_news(KIND, self._take)
        live.on_joined(board.tell_all)

    async def run(self) -> None:
        """Until cancelled: tell what changes, and everything again every 10 s."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._repeat)
            while True:
                await self._wake.wait()
                await anyio.sleep(GATHER_S)
                self._wake = anyio.Event()
                changed, self._changed = self._changed, {}
                for batch in self.batches(changed):
                    self._live.tell(KIND, [self._node_id, batch])

    def batches(self, changed: Mapping[tuple[str, str], str]) -> list[list[list[Any]]]:
        """What other nodes have to know of these, in messages."""
        return _batches([_packed(self._board.own(*one, project_id)) for one, project_id in changed.items()])

    async def _repeat(self) -> None:
        while True:
            await self._clock.sleep(REPEAT_S)
            self._board.tell_all()

    def _note(self, room_id: str, user_id: str, project_id: str) -> None:
        self._changed[(room_id, user_id)] = project_id
        self._wake.set()

    def _take(self, body: Any) -> None:
        node_id, batch = body
        for room_id, user_id, member, *more in batch:
            known = None if member is None else MemberData.model_validate(member)
            self._board.take(node_id, Shown(room_id, user_id, known, *more))


def _packed(shown: Shown) -> list[Any]:
    member = None if shown.member is None else shown.member.model_dump()
    return [shown.room_id, shown.user_id, member, shown.project_id, shown.block_id, round(shown.typing_s, 1)]


def _batches(entries: list[list[Any]]) -> list[list[list[Any]]]:
    batches: list[list[list[Any]]] = []
    size = MOST_BYTES
    for entry in entries:
        added = len(orjson.dumps(entry)) + 1
        if size + added > MOST_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(entry)
        size += added
    return batches
