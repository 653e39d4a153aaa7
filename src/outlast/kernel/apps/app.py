"""The declaration of an app."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import sqlalchemy as sa

from outlast.base.events import EventType
from outlast.base.records import dataclass
from outlast.kernel.apps.ports import Implementation, Port
from outlast.kernel.mentions.inbox_items import InboxSource
from outlast.kernel.settings import Settings
from outlast.kernel.subjects.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """One app. Only `name` is required. A server refuses to start if two apps, or an app and the kernel, declare the
    same thing, and names both (`StartRefused`).

    - `name`: one lower-case word, used in messages.
    - `tables`: its tables. Their rows are found by every backup; migrations create them.
    - `blob_columns`: columns of these tables that contain names of blobs (SHA-256 in hex, or null). A blob in such a
      column is never collected.
    - `prefixes`: kinds of ids and the prefix of each: with `{"poll": "pol"}`, `new_id("poll")` returns `pol_01k…`. A
      prefix has 3 lower-case letters.
    - `anchors`: types of anchors that its threads can have, beside the nouns of `subjects`.
    - `subjects`: the subjects of this app's conversations.
    - `events`: kinds of events that it appends to logs.
    - `tools`: names of its agents' tools. Policies name tools, so each name belongs to one app.
    - `inbox`: kinds of items that can wait in a user's inbox.
    - `state`: creates its in-memory state for the life of a server: one object of each class, found by
      `Services.state`. Called once, when a server starts.
    - `server`: its module with `open_app(opening: Opening) -> Opened`, which opens what else exists once per server:
      agents, tasks, timers … (`opened.py`). Imported when a server starts.
    - `implements`: ports of the kernel and of other apps, as `[IMAGE_HOSTS.by(ScreenImageHosts())]`. At most one app
      implements a port.
    - `opens`: ports that it implements with what `open_app` opens.
    - `uses`: ports that it needs another app to implement.
    - `routes`: its modules with a `router`. Imported when a server with HTTP starts.
    - `trials`: its module with `trials(settings, environment, clock) -> Sequence[Trial]`: services outside of this
      server that `outlast doctor --connections` tries (`trials.py`).
    """

    name: str
    tables: Sequence[sa.Table] = ()
    blob_columns: Sequence[sa.Column[Any]] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict)
    anchors: Sequence[str] = ()
    subjects: Sequence[Subject] = ()
    events: Sequence[EventType] = ()
    tools: Sequence[str] = ()
    inbox: Sequence[InboxSource] = ()
    state: Callable[[Settings], Sequence[object]] | None = None
    server: str = ""
    implements: Sequence[Implementation] = ()
    opens: Sequence[Port[Any]] = ()
    uses: Sequence[Port[Any]] = ()
    routes: Sequence[str] = ()
    trials: str = ""
