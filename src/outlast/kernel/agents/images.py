"""Images that tools return to a model."""

from dataclasses import dataclass
from typing import Final

MAX_IMAGES: Final = 4  # in one result
MAX_IMAGE_BYTES: Final = 5_000_000  # the least that providers accept


@dataclass(frozen=True, slots=True)
class Image:
    """An image in the result of a tool: the model sees it, and people see it with the call.

        @tool(repeatable=True)
        def price_chart(order_ids: list[str]) -> Image:
            '''Draw the prices of orders.'''
            return Image(draw(order_ids), alt="Prices of two orders")

    `data` is a PNG, JPEG, GIF or WebP file, recognised by its content: at most 5,000,000 bytes and 100 megapixels, and
    four images in one result. Others are left out, and the model reads why. `alt` says what it shows, for people who
    cannot see it and models without vision, in at most 120 characters.
    """

    data: bytes
    alt: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.data, bytes):
            raise TypeError("The data of an Image must be bytes: the content of a PNG, JPEG, GIF or WebP file.")

    def __repr__(self) -> str:
        return f"Image({len(self.data)} bytes, alt={self.alt!r})"
