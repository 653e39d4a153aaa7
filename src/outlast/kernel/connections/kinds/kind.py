"""The port of a kind of service, which is also the generic kind: OAuth 2 as its standards say (RFC 6749, 6750, 7009,
7636). All of it is pure: the client sends what it describes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from outlast.base.records import dataclass
from outlast.kernel.connections.web_request import WebAnswer, WebRequest

UNAUTHORIZED: Final = 401
_NAMES: Final = ("login", "email", "preferred_username", "name", "username", "sub", "id")


@dataclass(frozen=True)
class Kind:
    """Addresses and habits of a service. The addresses are empty if an operator has to name them.

    `authorization`: where browsers go; `token`, `revocation`: endpoints; `test`: a cheap request of its API that names
    the account; `hosts`: where tokens may go. `issuer`: what an answer may name as `iss` (RFC 9207), if anything.
    """

    title: str = ""
    issuer: str = ""
    authorization: str = ""
    token: str = ""
    revocation: str = ""
    test: str = ""
    hosts: Sequence[str] = ()
    scopes: Sequence[str] = ()
    scope_parameter: str = "scope"
    scope_separator: str = " "
    has_pkce: bool = True
    method: str = "client_secret_post"
    parameters: Mapping[str, str] | None = None

    def authorization_parameters(self, scopes: Sequence[str]) -> dict[str, str]:
        """What the authorization request has beside the parameters of the standard."""
        asked = {self.scope_parameter: self.scope_separator.join(scopes)} if scopes else {}
        return {**asked, **(self.parameters or {})}

    def token_fields(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """An answer of the token endpoint in the form of the standard."""
        return data

    def test_request(self, url: str, access: str) -> WebRequest:
        """The cheap request that names the account."""
        return WebRequest("GET", url, authorization=f"Bearer {access}")

    def is_rejected(self, answer: WebAnswer) -> bool:
        """True if the answer to the test refuses the token."""
        return answer.status == UNAUTHORIZED

    def account_in(self, data: Mapping[str, Any]) -> str | None:
        """The account's name in the answer to the test; None if the answer has none."""
        found = (data.get(name) for name in _NAMES)
        return next((str(one) for one in found if isinstance(one, str | int) and one != ""), None)

    def revocation_request(self, url: str, client_id: str, secret: str, access: str) -> WebRequest | None:
        """The request that ends a grant, if it is not that of the standard."""
        return None
