"""Asking a person at the terminal without stopping the stream: the question can be withdrawn while it waits."""

import asyncio
import sys

from outlast.kernel.cli.terminal import out, styled


async def ask(question: str) -> str:
    """The line a person types. Cancelled: the question is withdrawn, nothing typed is lost to later ones."""
    out.print(styled((question, "bold"), " "), end="")
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        line = sys.stdin.readline()
        if not typed.done():
            typed.set_result(line)

    loop.add_reader(sys.stdin.fileno(), read)
    try:
        line = await typed
    finally:
        loop.remove_reader(sys.stdin.fileno())
    if not line:
        raise EOFError
    return line.strip()
