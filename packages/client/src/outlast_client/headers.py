"""Headers of every request."""

from typing import Final

VERSION: Final = "0.1.0"


def request_headers(token: str | None) -> dict[str, str]:
    """The client's name and version, and the API token if there is one."""
    headers = {"user-agent": f"outlast-client/{VERSION}"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return headers
