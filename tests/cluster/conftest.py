from __future__ import annotations

import pytest

from tests.cluster import machines


@pytest.fixture(autouse=True)
def machines_can_be_made() -> None:
    """Skips, with the reason, where there can be no machines."""
    machines.require()
