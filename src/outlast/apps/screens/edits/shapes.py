"""Shapes of edits made by hand."""

from typing import Literal

from pydantic import Field

from outlast.apps.screens.edits.apply import MAX_ATTRIBUTE_CHARS, MAX_EDITS, MAX_TEXT_CHARS
from outlast.apps.screens.edits.marks import MAX_MARK_CHARS
from outlast.apps.screens.edits.values import EditKind, EditStatus
from outlast.kernel.http.shapes import Answer, Request

MOST_STYLES = 100
MOST_CLASSES = 200


class EditRequest(Request):
    """One edit. `loc` is where the element begins (`path:line:column`), `tag` what it is called there (not checked when
    left out), `seen` the value that the person saw (null: none), `value` the new one."""

    loc: str = Field(max_length=MAX_MARK_CHARS, description="As `data-loc` or `data-use` says it.")
    kind: EditKind
    attribute: Literal["src", "alt"] | None = None
    tag: str | None = Field(None, max_length=200)
    seen: str | None = Field(None, max_length=MAX_TEXT_CHARS)
    value: str = Field(max_length=max(MAX_TEXT_CHARS, MAX_ATTRIBUTE_CHARS))


class EditsRequest(Request):
    edits: list[EditRequest] = Field(min_length=1, max_length=MAX_EDITS)


class EditAnswer(Answer):
    """What became of one edit. `loc`: where its element begins now. `code`, `reason`, `hint`: why it was not made;
    `found`: what the source says instead of what was seen."""

    status: EditStatus
    loc: str
    code: str | None
    reason: str | None
    hint: str | None
    found: str | None


class EditsAnswer(Answer):
    """Results in the order of the edits; the checkpoint that holds them (null: nothing was changed)."""

    results: list[EditAnswer]
    checkpoint_id: str | None


class UndoRequest(Request):
    """What saving answered."""

    checkpoint_id: str = Field(max_length=40)


class UndoAnswer(Answer):
    """The files that are what they were; the checkpoint that has them so (null: they were already)."""

    paths: list[str]
    checkpoint_id: str | None


class PictureRequest(Request):
    """An uploaded image of the same project."""

    attachment_id: str = Field(max_length=40)


class PictureAnswer(Answer):
    """A picture among the app's files: `src` is what the page calls it."""

    path: str
    src: str
    checkpoint_id: str | None


class InspectRequest(Request):
    locs: list[str] = Field(max_length=100)


class RefusalAnswer(Answer):
    """Why it cannot be edited by hand, and what to do."""

    code: str
    reason: str
    hint: str


class ValueAnswer(Answer):
    """What the source says (null: nothing yet, or `refusal` says why it cannot be edited). `partly`: code adds to it,
    and what it adds may win."""

    value: str | None
    partly: bool
    refusal: RefusalAnswer | None


class ElementAnswer(Answer):
    """An element as its source has it; `attributes` for pictures only. Where none was found, `refusal` says why."""

    loc: str
    tag: str | None
    classes: ValueAnswer | None
    text: ValueAnswer | None
    attributes: dict[str, ValueAnswer]
    refusal: RefusalAnswer | None


class InspectAnswer(Answer):
    items: list[ElementAnswer]


class StylesRequest(Request):
    """`styles`: CSS by property, to be said in classes (`exact`: with these very values, not by their names);
    `classes`: those to be asked about."""

    styles: dict[str, str] = Field(default_factory=dict, max_length=MOST_STYLES)
    classes: list[str] = Field(default_factory=list, max_length=MOST_CLASSES)
    exact: bool = False


class StylesAnswer(Answer):
    """`classes` by CSS property; `refused` says why a value has none. `known`: what each class says (null: there is
    none; empty: it has states or several rules; missing: nobody could be asked). `design`: whether the project's own
    design system answered; else they are arbitrary values."""

    classes: dict[str, str]
    refused: dict[str, str]
    known: dict[str, dict[str, str] | None]
    design: bool
