"""Linear.

- https://linear.app/developers/oauth-2-0-authentication: endpoints, scopes separated by commas, PKCE, `actor=user`
  (what agents do appears as done by the person), refresh tokens, access tokens of 24 hours, revocation.
- https://linear.app/developers/graphql: the test is a query of the viewer; a refused token is an error of the type
  `AUTHENTICATION_ERROR`, also with status 400.
"""

from collections.abc import Mapping
from typing import Any, Final

from outlast.kernel.connections.kinds.kind import UNAUTHORIZED, Kind
from outlast.kernel.connections.web_request import WebAnswer, WebRequest

QUERY: Final = {"query": "{ viewer { name email } }"}
REFUSED: Final = "AUTHENTICATION_ERROR"


class Linear(Kind):
    """See above."""

    def test_request(self, url: str, access: str) -> WebRequest:
        return WebRequest("POST", url, authorization=f"Bearer {access}", json=QUERY)

    def is_rejected(self, answer: WebAnswer) -> bool:
        return answer.status == UNAUTHORIZED or REFUSED in str(answer.data.get("errors", ""))

    def account_in(self, data: Mapping[str, Any]) -> str | None:
        found = data.get("data")
        viewer = found.get("viewer") if isinstance(found, dict) else None
        return super().account_in(viewer) if isinstance(viewer, dict) else None


LINEAR: Final = Linear(
    title="Linear",
    authorization="https://linear.app/oauth/authorize",
    token="https://api.linear.app/oauth/token",
    revocation="https://api.linear.app/oauth/revoke",
    test="https://api.linear.app/graphql",
    hosts=("api.linear.app", "uploads.linear.app"),
    scopes=("read", "write"),
    scope_separator=",",
    parameters={"actor": "user", "prompt": "consent"},
)
