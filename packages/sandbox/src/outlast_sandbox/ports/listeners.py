"""Ports of a sandbox that accept connections."""

from typing import Final

from outlast_sandbox.interface import Sandbox

OWN_PORTS: Final = frozenset({3128})  # the egress listener
TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")
LISTEN: Final = "0A"


async def listening_ports(sandbox: Sandbox) -> set[int]:
    """The ports that programs inside listen on, without the sandbox's own. Raises as `Files.read` does."""
    ports: set[int] = set()
    for table in TABLES:
        content = b"".join([piece async for piece in sandbox.files.read(table)])
        ports |= ports_in(content.decode("latin-1"))
    return ports - OWN_PORTS


def ports_in(table: str) -> set[int]:
    """The listening ports in one of the kernel's socket tables (`/proc/net/tcp`); malformed lines are skipped."""
    ports = set()
    for line in table.splitlines()[1:]:
        words = line.split()
        if len(words) > 3 and words[3] == LISTEN and ":" in words[1]:
            try:
                ports.add(int(words[1].rsplit(":", 1)[1], 16))
            except ValueError:
                continue
    return ports
