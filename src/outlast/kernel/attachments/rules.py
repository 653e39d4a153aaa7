"""Which images can be attached. Pure."""

from typing import Final

from outlast.base.errors import InputTooLarge, MalformedInput
from outlast.base.images import Image, recognise
from outlast.kernel.limits.rules import check_bytes

MAX_PIXELS: Final = 100_000_000


def checked_image(content: bytes, limit_bytes: int) -> Image:
    """What kind of image was uploaded. Raises `InputTooLarge`, also for a small file that unfolds into more pixels than
    browsers and models bear, and `MalformedInput` for anything but the four formats
    that models and browsers understand; the file's name and declared type are not believed."""
    check_bytes("The image", len(content), limit_bytes)
    image = recognise(content)
    if image is None:
        raise MalformedInput(
            "The file is no image that can be attached.", hint="Attach a PNG, JPEG, GIF or WebP image.", field="file"
        )
    if image.width * image.height > MAX_PIXELS:
        raise InputTooLarge(
            f"The image has {image.width:,} x {image.height:,} pixels; at most {MAX_PIXELS:,} are accepted.",
            hint="Make it smaller.",
            limit_pixels=MAX_PIXELS,
        )
    return image
