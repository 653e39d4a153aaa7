"""Settings of limits."""

from dataclasses import dataclass

from outlast.base.settings.fields import setting


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """How much and how fast; 0 turns a rate limit off."""

    runs_per_minute_per_user: int = setting("Runs one user may start.", 60, unit="a minute", least=0)
    runs_per_minute_per_project: int = setting("Runs one project may start.", 120, unit="a minute", least=0)
    pages_per_minute_per_user: int = setting("Pages one user may make.", 30, unit="a minute", least=0)
    documents_per_minute_per_user: int = setting("Documents one user may make.", 30, unit="a minute", least=0)
    actions_per_minute_per_user: int = setting("Actions one user may send from pages.", 120, unit="a minute", least=0)
    screens_per_minute_per_user: int = setting("Screens one user may make or duplicate.", 30, unit="a minute", least=0)
    decisions_per_minute_per_user: int = setting(
        "Times that one user may decide about proposed edits.", 120, unit="a minute", least=0
    )
    changes_per_minute_per_user: int = setting(
        "Versions of documents one user may write.", 300, unit="a minute", least=0
    )
    comments_per_minute_per_user: int = setting("Comments one user may write.", 60, unit="a minute", least=0)
    files_per_minute_per_user: int = setting("Files one user may put into projects.", 120, unit="a minute", least=0)
    messages_per_minute_per_user: int = setting("Messages one user may write.", 120, unit="a minute", least=0)
    threads_per_minute_per_user: int = setting("Threads one user may make.", 120, unit="a minute", least=0)
    attachments_per_minute_per_user: int = setting("Images one user may attach.", 120, unit="a minute", least=0)
    projects_per_minute_per_user: int = setting("Projects one user may make.", 30, unit="a minute", least=0)
    tokens_per_minute_per_user: int = setting("API tokens one user may make.", 30, unit="a minute", least=0)
    invitations_per_minute_per_user: int = setting("Invitations one user may make.", 60, unit="a minute", least=0)
    wrong_sign_ins_per_minute_per_address: int = setting(
        "Sign-ins and invitations with a wrong secret from one address; further ones are not looked at.",
        30,
        unit="a minute",
        least=0,
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
    request_bytes: int = setting("Largest body of a request that carries no file.", 1_000_000, unit="bytes", least=1000)
