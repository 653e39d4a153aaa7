"""Which ports something listens on, from the kernel's own table (`/proc/net/tcp`). Pure."""

from typing import Final

TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")
LISTEN: Final = "0A"


def listening_ports(table: str) -> set[int]:
    """The ports of one table's listening sockets; lines of another shape are passed over."""
    ports = set()
    for line in table.splitlines()[1:]:
        words = line.split()
        if len(words) > 3 and words[3] == LISTEN and ":" in words[1]:
            try:
                ports.add(int(words[1].rsplit(":", 1)[1], 16))
            except ValueError:
                continue
    return ports
