"""Apply patches to a page's tree. Pure: a refused patch leaves the tree unchanged.

An applied patch is returned *normalised*: with the sanitised HTML and attributes, so that a browser that applies
it to the same page gets the same tree without its own checks.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Final

from outlast.apps.pages import tree as trees
from outlast.apps.pages.allowed_attributes import kept_attributes, plain
from outlast.apps.pages.allowed_elements import DRAWN, VOID
from outlast.apps.pages.content_model import text_refused
from outlast.apps.pages.refusals import Refused
from outlast.apps.pages.sanitizer import Clean, element_misplaced, misplaced, sanitised
from outlast.apps.pages.shapes import Patch, Place
from outlast.apps.pages.tree import Element, Tree, inside_of, settle
from outlast.base.records import dataclass

MAX_IDS: Final = 400


@dataclass(frozen=True, slots=True)
class Applied:
    """`patches`: the normalised ones. `problems`: why others were refused, and what was left out of applied ones."""

    patches: tuple[Patch, ...]
    problems: tuple[str, ...]
    refused: int


def apply_patches(tree: Tree, patches: Sequence[Patch]) -> Applied:
    """Apply patches in order, independently: one that does not fit is refused, and the others are still applied."""
    done: list[Patch] = []
    problems: list[str] = []
    refused = 0
    for patch in patches:
        try:
            applied, told = apply_patch(tree, patch)
        except Refused as reason:
            refused += 1
            problems.append(f'The patch "{patch.op}" at {patch.at} was not applied: {reason}.')
            continue
        if applied is not None:
            done.append(applied)
        problems += [f'Of the patch "{patch.op}" at {patch.at} a part was left out: {one}.' for one in told]
    return Applied(tuple(done), tuple(dict.fromkeys(problems)), refused)


def apply_patch(tree: Tree, patch: Patch) -> tuple[Patch | None, tuple[str, ...]]:
    """Apply one patch. Returns the normalised one (None if it changes nothing) and what was left out. Raises
    `Refused`."""
    target = _target(tree, patch.at)
    match patch.op:
        case "text":
            return _text(target, patch)
        case "html" | "append" | "prepend" | "replace" | "before" | "after":
            return _inserted(target, patch)
        case "remove":
            trees.take_out(target)
            return Patch(op="remove", at=patch.at), ()
        case "attributes":
            return _attributes(target, patch)
        case "classes":
            return _classes(target, patch), ()
        case "move":
            return _move(tree, target, patch), ()


def _target(tree: Tree, at: str) -> Element:
    if at == "page":
        return tree.root
    found = tree.find(at[1:])
    if found is None:
        ids = [str(one) for one in islice(tree.ids(), MAX_IDS)]
        near = get_close_matches(at[1:], ids, n=3)
        hint = f" (there is {', '.join('#' + one for one in near)})" if near else ""
        raise Refused(f"no element on the page has the id {at[1:]}{hint}")
    return found


def _text(target: Element, patch: Patch) -> tuple[Patch, tuple[str, ...]]:
    text = plain(patch.text or "")
    refused = text_refused(target.tag, text)
    if refused:
        raise Refused(refused)
    trees.clear_content(target)
    target.text = text
    settle(target)
    return Patch(op="text", at=patch.at, text=target.text or ""), ()


def _inserted(target: Element, patch: Patch) -> tuple[Patch | None, tuple[str, ...]]:
    inside = patch.op in ("html", "append", "prepend")
    if inside and target.tag in VOID:
        raise Refused(text_refused(target.tag, ""))
    clean = _fitting(patch, target if inside else target.getparent())
    html = trees.inner_html(clean.fragment)
    match patch.op:
        case "html":
            trees.clear_content(target)
            _insert(clean.fragment, target, "append")
        case "replace":
            _insert(clean.fragment, target, "after")
            trees.take_out(target)
        case "append" | "prepend" | "before" | "after" if html:
            _insert(clean.fragment, target, patch.op)
        case _:
            return None, clean.told
    return Patch(op=patch.op, at=patch.at, html=html), clean.told


def _fitting(patch: Patch, parent: Element) -> Clean:
    """The sanitised HTML of the patch, if it is allowed in `parent`."""
    context = "div" if parent.tag == trees.ROOT else parent.tag
    clean = sanitised(patch.html or "", context)
    refused = misplaced(clean.fragment, inside_of(parent))
    if refused:
        raise Refused(refused)
    return clean


def _attributes(target: Element, patch: Patch) -> tuple[Patch | None, tuple[str, ...]]:
    before = dict(target.attrib)
    wanted = {name: value for name, value in before.items() if name not in (patch.remove or ())}
    wanted |= {_name(target, name): plain(value) for name, value in (patch.set or {}).items()}
    after = kept_attributes(target.tag, wanted.items())
    lost = [name for name in patch.set or {} if _name(target, name) not in after]
    told = tuple(_not_kept(target.tag, name) for name in lost)
    given = {name: value for name, value in after.items() if before.get(name) != value}
    removed = [name for name in before if name not in after]
    if not given and not removed:
        return None, told
    for name in removed:
        del target.attrib[name]
    for name, value in given.items():
        target.set(name, value)
    return Patch(op="attributes", at=patch.at, set=given or None, remove=removed or None), told


def _name(target: Element, name: str) -> str:
    """Names are lower case, except in SVG (`viewBox`)."""
    return name if target.tag in DRAWN else name.lower()


def _not_kept(tag: str, name: str) -> str:
    return f'{tag} does not allow "{name}" with this value'


def _classes(target: Element, patch: Patch) -> Patch | None:
    before = target.get("class", "").split()
    gone = set(patch.remove or ()) - set(patch.add or ())
    kept = [name for name in before if name not in gone] + list(patch.add or ())
    after = kept_attributes(target.tag, [("class", " ".join(dict.fromkeys(kept)))]).get("class", "")
    if after == target.get("class", ""):
        return None
    if after:
        target.set("class", after)
    else:
        del target.attrib["class"]
    names = after.split()
    added = [name for name in names if name not in before]
    removed = [name for name in dict.fromkeys(before) if name not in names]
    return Patch(op="classes", at=patch.at, add=added or None, remove=removed or None)


def _move(tree: Tree, target: Element, patch: Patch) -> Patch:
    to, place = _target(tree, patch.to or "page"), patch.place or "append"
    parent = to if place in ("append", "prepend") else to.getparent()
    if parent is target or target in parent.iterancestors():
        raise Refused("an element cannot be moved into itself")
    if parent.tag in VOID:
        raise Refused(text_refused(parent.tag, ""))
    refused = element_misplaced(target, inside_of(parent))
    if refused:
        raise Refused(refused)
    if to is not target:
        trees.take_out(target)
        held = target.makeelement("held")
        held.append(target)
        _insert(held, to, place)
    return Patch(op="move", at=patch.at, to=patch.to, place=place)


def _insert(fragment: Element, to: Element, place: Place) -> None:
    """Insert the content of `fragment` into or next to an element."""
    match place:
        case "append":
            trees.put(to, len(to), fragment)
        case "prepend":
            trees.put(to, 0, fragment, before_text=True)
        case "before":
            trees.put(to.getparent(), to.getparent().index(to), fragment)
        case "after":
            trees.put(to.getparent(), to.getparent().index(to) + 1, fragment, before_text=True)
