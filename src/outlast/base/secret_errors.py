"""The errors of saved secrets. None contains a secret."""

from outlast.base.errors import Conflict, InternalError, PermissionNeeded, StartRefused


class SecretKeyMissing(StartRefused):
    """Saved secrets were sealed with a key that this server does not have. Field: `key_id`."""

    code = "secret_key_missing"
    default_hint = (
        "Put the earlier server.key back into the data directory, or set OUTLAST_SECRET_KEY to what it holds. Servers "
        "that share a database need the same key."
    )


class SecretUnreadable(InternalError):
    """A saved secret does not open with its own key: the row was changed."""

    code = "secret_unreadable"
    default_hint = "Enter the secret again."


class SecretNameTaken(Conflict):
    """There is a secret of this name for the same sandboxes. Fields: `name`."""

    code = "secret_name_taken"
    default_hint = "Change that one, or choose another name."


class SecretHostRefused(PermissionNeeded):
    """The operator does not allow saved secrets for this host. Fields: `host`."""

    code = "secret_host_refused"
    default_hint = "Ask the operator to add it to the setting secrets.hosts."


class TooManySecrets(Conflict):
    """The project has as many saved secrets as it may."""

    code = "too_many_secrets"
    default_hint = "Delete one that you no longer need, or ask the operator to raise secrets.most_per_project."
