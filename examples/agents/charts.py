"""An agent whose tool returns an image, which the model and people see."""

import struct
import zlib

from outlast import Agent, Image, tool

from .support_desk import PRICES


@tool(repeatable=True)
def price_chart(order_ids: list[str]) -> Image:
    """Draw the prices of orders as bars."""
    known = [order_id for order_id in order_ids if order_id in PRICES]
    return Image(draw([PRICES[order_id] for order_id in known]), alt=f"Prices of {', '.join(known) or 'no orders'}")


def draw(values: list[int]) -> bytes:
    """Grey bars as a PNG; your plotting library takes this place."""
    height, most = 100, max(values, default=1)
    bars = [value * height // most for value in values] or [0]
    rows = [b"\0" + b"".join((b"\x40" if bar > height - y else b"\xf0") * 60 for bar in bars) for y in range(height)]
    header = struct.pack(">IIBBBBB", 60 * len(bars), height, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


charts = Agent(
    "charts",
    description="Draws the prices of orders, and says what it sees.",
    icon="📊",
    instructions="Draw a chart of the orders that the person names. Then say in one sentence what it shows.",
    tools=[price_chart],
)
