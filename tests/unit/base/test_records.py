"""`outlast.base.records.dataclass` does what the standard library's decorator does, but for the frozen check."""

import dataclasses
from collections.abc import Callable
from dataclasses import field, fields, replace
from typing import Any

import pytest

from outlast.base import records

Decorator = Callable[..., Callable[[type], Any]]


def point(dataclass: Decorator, **options: Any) -> Any:
    @dataclass(**options)
    class Point:
        x: int
        y: int = 2
        secret: str = field(default="s", repr=False, kw_only=True)
        note: list[str] = field(default_factory=list, compare=False, kw_only=True)

    return Point


BOTH = pytest.mark.parametrize("dataclass", [dataclasses.dataclass, records.dataclass], ids=["standard", "ours"])


@BOTH
@pytest.mark.parametrize("options", [{"frozen": True, "slots": True}, {"slots": True}, {}])
def test_instances_are_equal_by_their_compared_fields_and_shown_without_hidden_ones(
    dataclass: Decorator, options: Any
) -> None:
    kind, other = point(dataclass, **options), point(dataclass, **options)
    assert kind(1) == kind(1, 2, note=["n"])
    assert kind(1) != kind(1, secret="t")
    assert kind(1) != other(1)
    assert kind(1) != (1, 2)
    assert repr(kind(1)).endswith(".Point(x=1, y=2, note=[])")
    assert replace(kind(1), y=5) == kind(1, 5)
    assert [one.name for one in fields(kind)] == ["x", "y", "secret", "note"]
    assert kind(1).note is not kind(1).note
    assert hasattr(kind(1), "__dict__") is ("slots" not in options)


@BOTH
def test_only_frozen_instances_that_compare_by_value_can_be_hashed(dataclass: Decorator) -> None:
    frozen = point(dataclass, frozen=True)
    assert hash(frozen(1)) == hash(frozen(1))
    with pytest.raises(TypeError):
        hash(point(dataclass)(1))
    same = point(dataclass, eq=False)
    assert hash(same(1)) != hash(same(2))
    assert same(1) != same(1)


@BOTH
def test_own_methods_are_kept_and_empty_classes_compare_by_type(dataclass: Decorator) -> None:
    @dataclass(frozen=True, slots=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "own"

        def __hash__(self) -> int:
            return 7

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    assert (repr(Own(1)), hash(Own(1)), Own(1) == Own(1)) == ("own", 7, True)
    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())


@BOTH
def test_a_subclass_takes_the_fields_of_its_base(dataclass: Decorator) -> None:
    base = point(dataclass, frozen=True, slots=True)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Deep(base):  # type: ignore[misc,valid-type]
        z: int

    assert Deep(1, z=3) == Deep(1, z=3)
    assert Deep(1, z=3) != Deep(1, z=4)
    assert "z=3" in repr(Deep(1, z=3))
