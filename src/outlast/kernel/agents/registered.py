"""The base of what a server registers by its name."""


class Registered:
    """The base of `Agent`, and of other classes with its attributes whose instances answer messages. An instance at the
    top level of an operator's module is registered."""

    __slots__ = ()
