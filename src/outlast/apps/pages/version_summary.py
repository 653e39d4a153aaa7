"""A version of a page in one line, for people who read its history. Pure."""

from collections.abc import Sequence

from outlast.apps.pages.shapes import Patch, VersionKind


def summary_of(kind: VersionKind, patches: Sequence[Patch] = (), base: int | None = None) -> str:
    """The one-line summary for a page's history."""
    if kind == "patches":
        places = list(dict.fromkeys(patch.at for patch in patches))
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        changes = "1 change" if len(patches) == 1 else f"{len(patches)} changes"
        return f"{changes} at {shown}"
    told: dict[VersionKind, str] = {
        "undo": f"Went back to version {base}",
        "restore": f"Restored version {base}",
        "created": "Page created",
        "copy": "Copied from another page",
        "full": "Rewrote the whole page",
    }
    return told[kind]
