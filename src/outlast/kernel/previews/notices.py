"""The words of the preview layer. Pure."""

from outlast.kernel.previews.answers import Notice


def no_preview() -> Notice:
    return Notice(
        404,
        "There is no preview here",
        "A preview's address begins with a port and a sandbox: 3000-sbx-….",
        "Open it from its thread in Outlast.",
    )


def not_let_in(port: int, home: str, *, used: bool = False) -> Notice:
    """No cookie, or one that is not good any more; `used`: a ticket came that was no good."""
    why = "This link has been used already, or is more than a minute old." if used else ""
    return Notice(
        401,
        "Open this preview from Outlast",
        why or f"The preview of port {port} is for members of its project, and this browser has not been let in.",
        "Links to previews work once and for one browser.",
        link=("Open it from Outlast", home),
    )


def foreign_page() -> Notice:
    return Notice(
        403,
        "Another site asked for this",
        "Pages of other sites may not use a preview on your behalf.",
        "Open the preview itself.",
    )


def bad_answer(port: int, why: str) -> Notice:
    return Notice(
        502,
        f"Port {port} gave no answer that can be shown",
        f"Something listens there, but {why}.",
        "Previews speak HTTP/1.1 without TLS. Look at the server's own output in the sandbox.",
    )
