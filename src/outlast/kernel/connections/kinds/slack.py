"""Slack, with the person's own token (`xoxp-…`), not a bot's.

- https://docs.slack.dev/authentication/installing-with-oauth: `user_scope`, separated by commas.
- https://docs.slack.dev/reference/methods/oauth.v2.access: the person's token is in `authed_user`; errors have status
  200 and `ok: false`. PKCE has to be switched on for an app and makes it a public client, so it is not used here: the
  code is exchanged with the client's secret.
- https://docs.slack.dev/authentication/using-token-rotation: apps with rotation give tokens of 12 hours and refresh
  tokens, whose answer has the token at its top.
- https://docs.slack.dev/reference/methods/auth.test and …/auth.revoke: the test and the revocation.
"""

from collections.abc import Mapping
from typing import Any, Final

from outlast.kernel.connections.kinds.kind import UNAUTHORIZED, Kind
from outlast.kernel.connections.web_request import WebAnswer, WebRequest

_REFUSED: Final = frozenset(
    ["account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked", "user_removed_from_team"]
)


class Slack(Kind):
    """See above."""

    def token_fields(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        user = data.get("authed_user")
        found = user if isinstance(user, dict) and "access_token" in user else data
        return {**found, "token_type": "bearer"} if found.get("token_type") in ("user", "bot", None) else found

    def test_request(self, url: str, access: str) -> WebRequest:
        return WebRequest("POST", url, authorization=f"Bearer {access}", form={})

    def is_rejected(self, answer: WebAnswer) -> bool:
        return answer.status == UNAUTHORIZED or answer.data.get("error") in _REFUSED

    def account_in(self, data: Mapping[str, Any]) -> str | None:
        user, team = data.get("user"), data.get("team")
        if not data.get("ok") or not isinstance(user, str):
            return None
        return f"{user} ({team})" if isinstance(team, str) else user

    def revocation_request(self, url: str, client_id: str, secret: str, access: str) -> WebRequest | None:
        return WebRequest("POST", url, authorization=f"Bearer {access}", form={})


SLACK: Final = Slack(
    title="Slack",
    issuer="https://slack.com",
    authorization="https://slack.com/oauth/v2/authorize",
    token="https://slack.com/api/oauth.v2.access",
    revocation="https://slack.com/api/auth.revoke",
    test="https://slack.com/api/auth.test",
    hosts=("slack.com", "files.slack.com"),
    scopes=("channels:history", "channels:read", "chat:write", "users:read"),
    scope_parameter="user_scope",
    scope_separator=",",
    has_pkce=False,
    method="client_secret_basic",
)
