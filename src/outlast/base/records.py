"""`dataclass`, made in a quarter of the time: the program has hundreds, and the standard library compiles six functions
for each. That took a seventh of a server's start."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  (exported)
else:
    import dataclasses
    from operator import attrgetter

    def dataclass(*, frozen=False, eq=True, **options):
        """The standard library's decorator, with shared functions for all but `__init__`. `frozen` is checked by the
        type checker only, and makes instances hashable. It knows no `order` and no `unsafe_hash`."""

        def wrap(cls):
            made = dataclasses.dataclass(eq=False, repr=False, **options)(cls)
            own, fields = cls.__dict__, dataclasses.fields(made)
            if "__repr__" not in own:
                made.__repr__ = _repr_of([field.name for field in fields if field.repr])
            if eq and "__eq__" not in own:
                compared = [field.name for field in fields if field.compare]
                _compare_by(made, attrgetter(*compared) if compared else type, frozen)
            return made

        return wrap

    def _repr_of(names):
        def text(self):
            return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

        return text

    def _compare_by(cls, key, frozen):
        def equal(self, other):
            return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

        cls.__eq__ = equal
        if "__hash__" not in cls.__dict__:
            cls.__hash__ = (lambda self: hash(key(self))) if frozen else None
