"""Ordered ids. Find, insert and remove take constant time, whatever the length. Pure."""

from collections.abc import Iterable, Iterator


class Chain:
    """`name` says what is ordered. None stands for the position before the first id and after the last."""

    def __init__(self, name: str, ids: Iterable[str] = ()) -> None:
        self.name = name
        self._behind: dict[str | None, str | None] = {None: None}
        self._before: dict[str | None, str | None] = {None: None}
        for one in ids:
            self.put(one, self.last)

    def __iter__(self) -> Iterator[str]:
        return self.onwards(self.first)

    @property
    def first(self) -> str | None:
        return self._behind[None]

    @property
    def last(self) -> str | None:
        return self._before[None]

    def before(self, one: str) -> str | None:
        """The id before this one."""
        return self._before[one]

    def onwards(self, one: str | None) -> Iterator[str]:
        """This id and those behind it. Do not change the chain while iterating."""
        while one is not None:
            yield one
            one = self._behind[one]

    def put(self, one: str, after: str | None) -> None:
        """Insert the id behind another (first if None)."""
        behind = self._behind[after]
        self._behind[after] = self._before[behind] = one
        self._before[one], self._behind[one] = after, behind

    def take(self, one: str) -> None:
        """Remove the id."""
        before, behind = self._before.pop(one), self._behind.pop(one)
        self._behind[before], self._before[behind] = behind, before

    def split(self, after: str | None) -> tuple["Chain", "Chain"]:
        """The ids up to `after`, and those behind it. The longer part is this chain, so that repeated splitting
        takes few steps; the shorter part is new."""
        moving, is_head = self._shorter(after)
        other = Chain(self.name)
        for one in moving:
            self.take(one)
            other.put(one, other.last)
        return (other, self) if is_head else (self, other)

    def _shorter(self, after: str | None) -> tuple[list[str], bool]:
        """The shorter side; True if it is the one before the cut."""
        head, tail = list[str](), list[str]()
        low, high = after, self._behind[after]
        while low is not None and high is not None:
            head.append(low)
            tail.append(high)
            low, high = self._before[low], self._behind[high]
        return (head[::-1], True) if low is None else (tail, False)
