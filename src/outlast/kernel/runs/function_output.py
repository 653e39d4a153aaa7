"""The texts that a function shows: each once, however often it is called."""

from collections.abc import Callable

from outlast.kernel.runs.turns import encodable


class Shown(str):
    """An answer that the parts of its run show already."""

    __slots__ = ()


class FunctionOutput:
    """Shows texts, except for those that an earlier call of the function has shown: `before`, one behind the other."""

    def __init__(self, before: str, show: Callable[[str], None]) -> None:
        self._before, self._show = before, show

    def __call__(self, text: str) -> None:
        text = encodable(text)
        if text in self._before:  # seldom not its beginning: branches of a gather come in another order
            self._before = self._before.replace(text, "", 1)
        else:
            self._show(text)
