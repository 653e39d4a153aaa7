"""Settings of limits."""

from typing import Any

from outlast.base.records import dataclass
from outlast.base.settings.fields import setting


def _rate(sentence: str, default: int) -> Any:
    return setting(sentence, default, unit="a minute", least=0)


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """Limits of sizes and rates; 0 turns a rate limit off."""

    runs_per_minute_per_user: int = _rate("Runs one user may start.", 60)
    runs_per_minute_per_project: int = _rate("Runs one project may start.", 120)
    pages_per_minute_per_user: int = _rate("Pages one user may create.", 30)
    documents_per_minute_per_user: int = _rate("Documents one user may create.", 30)
    actions_per_minute_per_user: int = _rate("Actions one user may send from pages.", 120)
    screens_per_minute_per_user: int = _rate("Screens one user may create or duplicate.", 30)
    decisions_per_minute_per_user: int = _rate("Decisions of one user about proposed edits.", 120)
    changes_per_minute_per_user: int = _rate("Versions of documents one user may write.", 300)
    comments_per_minute_per_user: int = _rate("Comments one user may write.", 60)
    files_per_minute_per_user: int = _rate("Files one user may upload to projects.", 120)
    messages_per_minute_per_user: int = _rate("Messages one user may write.", 120)
    threads_per_minute_per_user: int = _rate("Threads one user may create.", 120)
    attachments_per_minute_per_user: int = _rate("Files one user may attach.", 120)
    projects_per_minute_per_user: int = _rate("Projects one user may create.", 30)
    tokens_per_minute_per_user: int = _rate("API tokens one user may create.", 30)
    invitations_per_minute_per_user: int = _rate("Invitations one user may create.", 60)
    wrong_sign_ins_per_minute_per_address: int = _rate(
        "Sign-ins and invitations with a wrong secret from one address; further ones are not checked.", 30
    )
    streams_per_user: int = setting(
        "Streams one user may follow at once; in previews, through E2B's protocol and, by address, on pages by link as "
        "many again.",
        200,
        unit="streams",
        least=0,
    )
    message_bytes: int = setting("Longest message text.", 200_000, unit="bytes", least=1, most=50_000_000)
    title_chars: int = setting("Longest title of a thread or project.", 200, unit="characters", least=1, most=10_000)
    image_bytes: int = setting("Largest attached image.", 8_000_000, unit="bytes", least=1, most=500_000_000)
    images_per_message: int = setting("Images in one message.", 8, unit="images", least=0, most=1000)
    attachment_bytes: int = setting("Largest attached file.", 100_000_000, unit="bytes", least=1, most=10_000_000_000)
    files_per_message: int = setting("Files that are no images in one message.", 20, unit="files", least=0, most=1000)
    request_bytes: int = setting("Largest body of a request without a file.", 1_000_000, unit="bytes", least=1000)
