"""Shapes of the inbox."""

from typing import Any, Literal

from outlast.base.events import Frozen


class InboxChanged(Frozen):
    """An inbox may have changed: read it again. `user_id` is null for the inboxes of all who may decide. In the
    project's log."""

    user_id: str | None
    kind: Literal["approval", "question", "proposal", "handover", "mention", "assigned", "schedule"]
    item: dict[str, Any] | None = None
