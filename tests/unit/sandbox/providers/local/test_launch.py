"""What a sandbox is given of the server's own limits."""

from __future__ import annotations

import subprocess
import sys

from outlast_sandbox.providers.local.launch import OPEN_FILES, open_files

ASK = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
from outlast_sandbox.providers.local.launch import open_files
print(open_files())
"""


def test_descriptors_stay_below_the_hard_limit_of_the_server() -> None:
    """A sandbox could not start where the server's limit was lower than what it asked for."""
    told = subprocess.run([sys.executable, "-c", ASK], check=True, capture_output=True, text=True).stdout
    assert int(told) == 256
    assert open_files() <= OPEN_FILES
