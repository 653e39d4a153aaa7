"""GitHub, as OAuth app or as GitHub App.

- https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps: endpoints; the token endpoint
  answers a form unless `Accept` asks for JSON, and errors with status 200.
- https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens:
  only a GitHub App whose tokens expire (8 hours) gives refresh tokens. Others are good until they are revoked.
- https://docs.github.com/en/rest/apps/oauth-applications#delete-an-app-authorization: revocation is a DELETE with the
  client's id and secret. It ends all tokens of this app for the person.
- https://docs.github.com/en/rest/users/users#get-the-authenticated-user: the test.
"""

import base64
from typing import Final

from outlast.kernel.connections.kinds.kind import Kind
from outlast.kernel.connections.web_request import WebRequest


class GitHub(Kind):
    """See above."""

    def revocation_request(self, url: str, client_id: str, secret: str, access: str) -> WebRequest | None:
        both = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
        address = url.replace("{client_id}", client_id)
        return WebRequest("DELETE", address, authorization=f"Basic {both}", json={"access_token": access})


GITHUB: Final = GitHub(
    title="GitHub",
    issuer="https://github.com/login/oauth",
    authorization="https://github.com/login/oauth/authorize",
    token="https://github.com/login/oauth/access_token",
    revocation="https://api.github.com/applications/{client_id}/grant",
    test="https://api.github.com/user",
    hosts=("api.github.com", "github.com", "uploads.github.com"),
)
