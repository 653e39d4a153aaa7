"""The protocol of the server and a relay (`relay.py`): many connections over one stream.

Frames in both directions: channel (4 bytes), kind (1), length (4), and that many bytes. The server's channels are odd,
the relay's even. A side sends at most `WINDOW` bytes on a channel before the other has taken them, so a slow channel
does not hold up the others.
"""

from __future__ import annotations

import struct

HEAD = struct.Struct("!IBI")
OPEN, OPENED, REFUSED, DATA, END, CLOSE, TAKEN = range(7)
WINDOW = 256 * 1024
