"""The errors of people's connections: accounts on other servers, which runs use for them. None contains a token."""

from outlast.base.errors import Conflict, InvalidRequest, TryLater


class ConnectionNeeded(Conflict):
    """You are not connected to the server, or no longer: it ended the connection, or its token could not be renewed.
    Fields: `server`."""

    code = "connection_needed"
    default_hint = "Connect your account on the page Connections of the project."


class SignInRefused(InvalidRequest):
    """The sign-in at another server is not possible, or was refused there. Fields: `server`."""

    code = "sign_in_refused"
    default_hint = "Ask the operator of that server."


class SignInExpired(Conflict):
    """The sign-in is unknown: it was used already, was begun more than ten minutes ago, or in another session."""

    code = "sign_in_expired"
    default_hint = "Begin again with Connect."


class SignInFailed(TryLater):
    """The server that signs people in cannot be reached, or answered what cannot be read. Fields: `server`."""

    code = "sign_in_failed"
    default_hint = "Try again in a minute."
