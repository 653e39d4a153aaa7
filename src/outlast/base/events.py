"""Declares kinds of events. `kernel/events.py` has the kernel's, an `App` its own; the list of both is closed.

Every event has the envelope `{id, event, data, timestamp, sequenceNumber}` (AgentKit's names); `timestamp` is ISO
8601 in UTC, `sequenceNumber` counts upwards in the log that holds the event, `id` is that log's id, a colon and the
number. Clients ignore names they do not know. To add one: a data model in the `shapes.py` of its noun, its `EventType`,
a fold case in `kernel/streams/fold.py` and in the TypeScript twin, then `make gen`.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model


class Frozen(BaseModel):
    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class Envelope(Frozen):
    id: str
    timestamp: str
    sequenceNumber: int  # noqa: N815 - AgentKit's name


class EventType:
    """One kind of event: the shape of its data, and its names (`noun.verb`). `schema` is its name in
    contract/events.json, unique among all kinds. `for_webhooks`: the names (True: all) that webhooks can take; such an
    event is in the log of a run or a project."""

    def __init__(self, schema: str, data: type[Frozen], *names: str, for_webhooks: Sequence[str] | bool = ()) -> None:
        self.schema, self.data, self.names = schema, data, names
        self.for_webhooks = names if for_webhooks is True else tuple(for_webhooks or ())

    def model(self) -> type[BaseModel]:
        """The envelope with this kind's names and data. The name is the default if there is only one."""
        name: Any = (Literal[self.names], self.names[0] if len(self.names) == 1 else ...)
        return create_model(self.schema, __base__=Envelope, event=name, data=(self.data, ...))


@cache
def event_adapter(types: Iterable[EventType]) -> TypeAdapter[Any]:
    """Reads events of these kinds (a tuple) and refuses all others."""
    union: Any = Union[tuple(one.model() for one in types)]  # noqa: UP007 - made from a list
    return TypeAdapter(Annotated[union, Field(discriminator="event")])
