"""Libraries that load on first use."""

import sys

import pytest

from outlast.base.lazy_module import LazyModule


def test_a_module_loads_when_one_of_its_names_is_first_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    wave = LazyModule("wave")
    assert "wave" not in sys.modules
    assert callable(wave.open)
    assert "wave" in sys.modules


def test_a_name_that_the_module_lacks_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        LazyModule("wave").nothing  # noqa: B018
