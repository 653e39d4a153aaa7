"""Errors of webhooks."""

from outlast.base.errors import Conflict, NotSignedIn, PermissionNeeded


class TooManyWebhooks(Conflict):
    """The project has as many webhooks as it may. Fields: `project_id`."""

    code = "too_many_webhooks"
    default_hint = "Delete one that you no longer need, or ask the operator to raise webhooks.most_per_project."


class WebhookOff(Conflict):
    """The webhook is turned off, so nothing is sent to it. Fields: `id`."""

    code = "webhook_off"
    default_hint = "Turn it on first."


class HookSecretWrong(NotSignedIn):
    """A call of an incoming webhook has no valid secret or signature, or there is no such address."""

    code = "hook_secret_wrong"
    default_hint = "Send 'Authorization: Bearer SECRET', or sign the request with the secret of the address."


class HookMakerLost(PermissionNeeded):
    """The user who made the incoming webhook may no longer start runs in its project. Fields: `id`."""

    code = "hook_maker_lost"
    default_hint = "Let an editor or owner of the project make a new address."
