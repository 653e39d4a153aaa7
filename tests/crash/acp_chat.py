"""The agent `chat` as a program that speaks the Agent Client Protocol: a command, and two files that people allow."""

import shlex
from pathlib import Path
from typing import Final

from outlast import acp_agent
from outlast.kernel.apps.opened import Opened, Opening

SCRIPT: Final = Path(__file__).parents[1] / "acp_script.py"
ENV: Final = {"SESSION": "ses-1", "SESSIONS": "/tmp/sessions", "PLAY": " nap, write, twice"}  # the same in every run
FILES: Final = {
    "done": "nap\nwrite note.txt\nwrite more.txt\n",
    "note.txt": "Text of note.txt\n",
    "more.txt": "Text of more.txt\n",
}


def open_app(opening: Opening) -> Opened:
    """The agent `chat`."""
    return Opened(agents=[acp_agent("chat", shlex.join(["python3", "-u", "-c", SCRIPT.read_text()]), env=ENV)])
