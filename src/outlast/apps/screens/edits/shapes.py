"""Shapes of manual edits."""

from typing import Final, Literal

from pydantic import Field

from outlast.apps.screens.edits.marks import MAX_MARK_CHARS
from outlast.kernel.http.shapes import Answer, Request

EditKind = Literal["classes", "text", "attribute"]
EditStatus = Literal["applied", "refused", "stale"]
MAX_EDITS: Final = 200
MAX_CLASSES_CHARS: Final = 4_000
MAX_TEXT_CHARS: Final = 10_000
MAX_ATTRIBUTE_CHARS: Final = 4_000
MAX_ELEMENTS: Final = 100
MAX_STYLES: Final = 100
MAX_CLASSES: Final = 200


class EditRequest(Request):
    """One edit of an element in the screen's source. `tag` is the name of the element (null: not checked), `seen`
    the value that the person saw (null: there was none), `value` the new one; `attribute` is for that kind only."""

    loc: str = Field(max_length=MAX_MARK_CHARS, description="Value of `data-loc` or `data-use`.")
    kind: EditKind
    attribute: Literal["src", "alt"] | None = None
    tag: str | None = Field(None, max_length=200)
    seen: str | None = Field(None, max_length=MAX_TEXT_CHARS)
    value: str = Field(max_length=max(MAX_TEXT_CHARS, MAX_ATTRIBUTE_CHARS))


class EditsRequest(Request):
    edits: list[EditRequest] = Field(min_length=1, max_length=MAX_EDITS)


class EditAnswer(Answer):
    """The result of one edit: applied, refused or stale."""

    status: EditStatus
    loc: str
    code: str | None
    reason: str | None
    hint: str | None
    found: str | None


class EditsAnswer(Answer):
    """Results in the order of the edits, and the checkpoint that holds them."""

    results: list[EditAnswer]
    checkpoint_id: str | None


class UndoRequest(Request):
    """The checkpoint that saving the edits returned."""

    checkpoint_id: str = Field(max_length=40)


class UndoAnswer(Answer):
    """Files that were restored, and the checkpoint that holds them."""

    paths: list[str]
    checkpoint_id: str | None


class PictureRequest(Request):
    """An uploaded image of the same project."""

    attachment_id: str = Field(max_length=40)


class PictureAnswer(Answer):
    """A picture that was added to the app's files."""

    path: str
    src: str
    checkpoint_id: str | None


class InspectRequest(Request):
    locs: list[str] = Field(max_length=MAX_ELEMENTS)


class RefusalAnswer(Answer):
    """The reason why it cannot be edited by hand, and a hint."""

    code: str
    reason: str
    hint: str


class ValueAnswer(Answer):
    """A value in the source, and whether it can be edited."""

    value: str | None
    partly: bool
    refusal: RefusalAnswer | None


class ElementAnswer(Answer):
    """An element in the source. If it cannot be edited, `refusal` says why."""

    loc: str
    tag: str | None
    classes: ValueAnswer | None
    text: ValueAnswer | None
    attributes: dict[str, ValueAnswer]
    refusal: RefusalAnswer | None


class InspectAnswer(Answer):
    items: list[ElementAnswer]


class StylesRequest(Request):
    """CSS to turn into classes, and classes to turn into CSS."""

    styles: dict[str, str] = Field(default_factory=dict, max_length=MAX_STYLES)
    classes: list[str] = Field(default_factory=list, max_length=MAX_CLASSES)
    exact: bool = False


class StylesAnswer(Answer):
    """Classes for CSS values, and CSS of classes."""

    classes: dict[str, str]
    refused: dict[str, str]
    known: dict[str, dict[str, str] | None]
    design: bool
