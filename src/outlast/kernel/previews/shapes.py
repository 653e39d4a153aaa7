"""Shapes of previews."""

from pydantic import Field

from outlast.kernel.http.shapes import Answer, Request
from outlast.kernel.sandboxes.shapes import ServiceStatus


class PreviewRequest(Request):
    """The port to show, and the path to open."""

    port: int = Field(ge=1, le=65_535, description="Port on which a server listens inside the sandbox.")
    path: str = Field("/", max_length=2_000, pattern="^/", description="Path and query to open.")


class PreviewAnswer(Answer):
    """Addresses of a preview. `ticket_url` gives one browser access, once."""

    url: str
    ticket_url: str
    expires_at: str


class PortAnswer(Answer):
    """A port of a sandbox: of a declared service, or of another program that listens."""

    port: int
    service: str | None
    state: ServiceStatus | None
    listening: bool
