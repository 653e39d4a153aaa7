"""The actions that a page offers, and their allowed values. Pure.

Read from the page's canonical HTML: at most 1 MB, in time that grows with its length.
"""

from collections.abc import Mapping
from typing import Any, Final

from outlast.apps.pages.tree import Element, Tree
from outlast.base.errors import ActionNotOffered
from outlast.base.records import dataclass

REPEAT: Final = "data-repeat"
_FIELDS: Final = frozenset({"input", "textarea", "select", "button"})
_CHANGED: Final = frozenset({"input", "textarea", "select"})


@dataclass(frozen=True, slots=True)
class Offer:
    """An action that a page offers. `fields`: the names of all values that its forms can send (None if it is offered
    outside of forms too, where any value is allowed). `repeats`: it may be repeated while it waits. `changes`:
    changing a field triggers it."""

    name: str
    fields: frozenset[str] | None
    repeats: bool = False
    changes: bool = False


def offer_of(html: str, name: str) -> Offer:
    """The offer of a page under a name. Raises `ActionNotOffered`. Each form is read once, however many of its elements
    offer the action."""
    root = Tree(html).root
    forms = _Forms(root)
    found = [one for one in root.iter() if one.get("data-action") == name]
    if not found:
        raise ActionNotOffered("The page no longer offers this action.", name=name)
    fields = [forms.fields(one) for one in found]
    return Offer(
        name,
        None if None in fields else frozenset().union(*(one for one in fields if one is not None)),
        repeats=any(one.get(REPEAT) is not None for one in found),
        changes=any(one.tag in _CHANGED for one in found),
    )


def demand_fields(offer: Offer, data: Mapping[str, Any]) -> None:
    """Raise `ActionNotOffered` for values that match no field of the page's forms."""
    unknown = sorted(set(data) - offer.fields) if offer.fields is not None else []
    if unknown:
        raise ActionNotOffered(
            "The page's form does not have these fields: " + ", ".join(unknown[:10]) + ".",
            name=offer.name,
            fields=unknown,
        )


class _Forms:
    """The forms of a page, and the names of the values that each sends."""

    def __init__(self, root: Element) -> None:
        self._by_id: dict[str | None, Element] = {}
        self._elsewhere: dict[str, set[str | None]] = {}  # names of fields outside of the form that they name
        self._names: dict[Element, frozenset[str]] = {}
        for one in root.iter():
            if one.tag == "form":
                self._by_id.setdefault(one.get("id"), one)
            elif one.tag in _FIELDS and one.get("form"):
                self._elsewhere.setdefault(one.get("form", ""), set()).add(one.get("name"))

    def fields(self, element: Element) -> frozenset[str] | None:
        """The names of the values that a form sends with the action, or None if no form sends it."""
        form = element if element.tag == "form" else self._form_of(element)
        if form is None or (element.tag in _CHANGED):
            return None
        return self._sent(form) | _values(element)

    def _form_of(self, element: Element) -> Element | None:
        owner = element.get("form")
        if owner is not None:
            return self._by_id.get(owner)
        return next(element.iterancestors("form"), None)

    def _sent(self, form: Element) -> frozenset[str]:
        if form not in self._names:
            inside = {one.get("name") for one in form.iter() if one.tag in _FIELDS and one.get("form") is None}
            names = {*inside, *self._elsewhere.get(form.get("id") or "", ()), "value"}
            self._names[form] = frozenset(name for name in names if name) | _values(form)
        return self._names[form]


def _values(element: Element) -> set[str]:
    """The names of an element's `data-*` values as scripts see them: `data-issue-id` is `issueId`."""
    return {_camel(name[5:]) for name in element.attrib if name.startswith("data-")}


def _camel(name: str) -> str:
    first, *more = name.split("-")
    return first + "".join(part[:1].upper() + part[1:] for part in more)
