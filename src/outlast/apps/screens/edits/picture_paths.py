"""The place of a person's picture among an app's files. Pure."""

import re
from typing import Final

FOLDER: Final = "public"
PLACE: Final = "images"
_ENDINGS: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_UNFIT: Final = re.compile(r"[^a-z0-9]+")
MAX_CHARS: Final = 40


def picture_path(name: str, media_type: str, blob: str) -> str:
    """The file's path in the project, from its name and its content's hash: the same picture has one place. Both
    templates serve files in `public` from the root."""
    stem = _UNFIT.sub("-", name.rpartition(".")[0].lower() or name.lower()).strip("-")[:MAX_CHARS].strip("-")
    ending = _ENDINGS.get(media_type, "bin")
    return f"{FOLDER}/{PLACE}/{stem or 'picture'}-{blob.rpartition('/')[2][:8]}.{ending}"


def picture_address(path: str) -> str:
    """The address of the picture on the page."""
    return path.removeprefix(FOLDER)
