"""Rules for attached images. Pure."""

from typing import Final

from outlast.base.errors import InputTooLarge, MalformedInput
from outlast.base.image_formats import Image, recognise
from outlast.kernel.limits.rules import check_bytes

MAX_PIXELS: Final = 100_000_000


def checked_image(content: bytes, limit_bytes: int) -> Image:
    """The recognised image of an upload. Raises `InputTooLarge`, also for a small file that decodes to more pixels than
    browsers and models can handle, and `MalformedInput` for anything but the four formats that models and browsers
    understand; the file's name and declared type are not trusted."""
    check_bytes("The image", len(content), limit_bytes)
    image = recognise(content)
    if image is None:
        raise MalformedInput(
            "The file is not a supported image.", hint="Attach a PNG, JPEG, GIF or WebP image.", field="file"
        )
    if image.width * image.height > MAX_PIXELS:
        raise InputTooLarge(
            f"The image has {image.width:,} x {image.height:,} pixels; at most {MAX_PIXELS:,} are accepted.",
            hint="Make it smaller.",
            limit_pixels=MAX_PIXELS,
        )
    return image
