"""Shapes of webhooks on the wire."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from outlast.kernel.http.shapes import Answer, Request

Title = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Events = Annotated[list[Annotated[str, StringConstraints(max_length=80)]], Field(min_length=1, max_length=100)]
DeliveryState = Literal["pending", "delivered", "dead"]


class WebhookRequest(Request):
    url: Url
    events: Events
    title: Title = ""
    enabled: bool = True


class WebhookChanges(Request):
    """What is left out stays unchanged."""

    url: Url | None = None
    events: Events | None = None
    title: Title | None = None
    enabled: bool | None = None


class WebhookAnswer(Answer):
    """A webhook, without its secret. `pending` and `dead` count its deliveries, up to 1,000."""

    id: str
    project_id: str
    title: str
    url: str
    events: list[str]
    enabled: bool
    stopped_because: str | None
    old_secret_until: str | None
    pending: int
    dead: int
    created_by: str
    created_at: str


class NewWebhookAnswer(WebhookAnswer):
    """A webhook with its secret, which no other answer has."""

    secret: str


class WebhookEventsAnswer(Answer):
    items: list[str]


class DeliveryAnswer(Answer):
    """An event on its way to a webhook, or a finished one."""

    id: str
    webhook_id: str
    event: str
    state: DeliveryState
    tries: int
    last_status: int | None
    reason: str | None
    next_try_at: str | None
    created_at: str
    ended_at: str | None
    body: str


class ReplayAnswer(Answer):
    """The number of deliveries that are pending again, and whether there are more."""

    replayed: int
    more: bool
