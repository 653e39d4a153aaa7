"""A provider's key as a value that does not print itself."""

from typing import Final

_DOTS: Final = "••••••"


class ApiKey:
    """Holds a secret; `str`, `repr` and formatting return dots. Only `reveal` shows it, and only adapters call that."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value.strip()

    def reveal(self) -> str:
        return self._value

    def scrub(self, text: str) -> str:
        """`text` with every occurrence of the key replaced by dots (providers like to quote it in errors)."""
        return text.replace(self._value, _DOTS) if self._value else text

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return f"ApiKey({_DOTS if self._value else ''})"

    __str__ = __repr__

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("an ApiKey cannot be pickled: it must not leave the process")
