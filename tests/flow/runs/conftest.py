"""What tests of runs look at."""

from typing import Any

import pytest

from outlast.kernel.runs import claims


@pytest.fixture
def claimed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that workers have claimed in transactions of their own, each time."""
    found: list[str] = []
    claim = claims.claim_ready

    def noting(*args: Any) -> Any:
        of_worker = claim(*args)
        found.extend(run.id for run, _ in of_worker)
        return of_worker

    monkeypatch.setattr(claims, "claim_ready", noting)
    return found
