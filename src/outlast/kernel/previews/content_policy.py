"""The content security policy of previews, which limits what a page may load and reach, and who may frame it. Pure.  A
page runs in its reader's browser, which reaches the whole network, while its sandbox reaches only hosts that the
operator opened. So its code connects to its own origin and its sandbox's other services, and loads images from hosts
that a member allowed. Styles, fonts and scripts from other hosts still load: many apps need them.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson

REPORTS_PATH: Final = "/.outlast/reports"
MAX_REPORT_BYTES: Final = 16_384
_FIXED: Final = "form-action 'self'; frame-src 'self'; report-uri " + REPORTS_PATH


def preview_policy(
    frame_ancestors: bytes, host: str, scheme: str, siblings: Iterable[str] = (), image_hosts: Sequence[str] = ()
) -> bytes:
    """`host` is the preview's own Host header, `siblings` those of its sandbox's other services; both are this server's
    names. `image_hosts`: hosts as content security policies name them."""
    sockets = "wss" if scheme == "https" else "ws"
    reached = ["'self'", f"{sockets}://{host}"]
    for sibling in siblings:
        reached += [f"{scheme}://{sibling}", f"{sockets}://{sibling}"]
    images = " ".join(["'self'", "data:", "blob:", *image_hosts])
    policy = f"; connect-src {' '.join(reached)}; img-src {images}; {_FIXED}"
    return b"frame-ancestors " + frame_ancestors + policy.encode()


def blocked_picture(report: bytes) -> str:
    """The address of the image that a browser blocked, from its report; empty if the report is about something else."""
    try:
        told: Any = orjson.loads(report)["csp-report"]
        directive = str(told.get("effective-directive") or told.get("violated-directive"))
        return str(told["blocked-uri"]) if directive.split(" ", maxsplit=1)[0] == "img-src" else ""
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        return ""
