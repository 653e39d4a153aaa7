"""Errors of webhooks."""

from outlast.base.errors import Conflict


class TooManyWebhooks(Conflict):
    """The project has as many webhooks as it may. Fields: `project_id`."""

    code = "too_many_webhooks"
    default_hint = "Delete one that you no longer need, or ask the operator to raise webhooks.most_per_project."


class WebhookOff(Conflict):
    """The webhook is turned off, so nothing is sent to it. Fields: `id`."""

    code = "webhook_off"
    default_hint = "Turn it on first."
