"""Google.

- https://developers.google.com/identity/protocols/oauth2/web-server: endpoints, revocation. A refresh token comes only
  with `access_type=offline`, and again only with `prompt=consent`.
- https://accounts.google.com/.well-known/openid-configuration: issuer, PKCE with S256, and the request that names the
  account, which needs the scopes `openid` and `email`.
"""

from collections.abc import Sequence
from typing import Final

from outlast.kernel.connections.kinds.kind import Kind

IDENTITY: Final = ("openid", "email")


class Google(Kind):
    """See above."""

    def authorization_parameters(self, scopes: Sequence[str]) -> dict[str, str]:
        return super().authorization_parameters(list(dict.fromkeys((*IDENTITY, *scopes))))


GOOGLE: Final = Google(
    title="Google",
    issuer="https://accounts.google.com",
    authorization="https://accounts.google.com/o/oauth2/v2/auth",
    token="https://oauth2.googleapis.com/token",
    revocation="https://oauth2.googleapis.com/revoke",
    test="https://openidconnect.googleapis.com/v1/userinfo",
    hosts=(
        "www.googleapis.com",
        "docs.googleapis.com",
        "gmail.googleapis.com",
        "openidconnect.googleapis.com",
        "people.googleapis.com",
        "sheets.googleapis.com",
        "slides.googleapis.com",
        "tasks.googleapis.com",
    ),
    parameters={"access_type": "offline", "prompt": "consent"},
)
