"""The elements that pages may have, SVG included. Constants only.

Elements that run, load, embed, post or navigate are excluded: script, style, link, meta, base, iframe, object, embed,
media, template, noscript, MathML, foreignObject, SVG animation.
"""

from typing import Final

from outlast.base.data_files import read_names

VOID: Final = frozenset({"br", "hr", "img", "input", "col", "wbr"})
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SECTIONS: Final = read_names(__file__, "allowed/section_elements")
_WORDS: Final = read_names(__file__, "allowed/word_elements")
_FORMS: Final = read_names(__file__, "allowed/form_elements")
TABLE_PARTS: Final = frozenset({"caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th"})
HTML: Final = (
    VOID | HEADINGS | _SECTIONS | _WORDS | _FORMS | TABLE_PARTS | {"table", "details", "summary", "dialog", "svg"}
)
TEXT_ONLY: Final = frozenset({"textarea", "option", "title", "desc"})
LEADING_BREAK_LOST: Final = frozenset({"pre", "textarea"})  # browsers drop a line break at their start

SVG: Final = read_names(__file__, "allowed/svg_elements")
DRAWN: Final = SVG | {"svg"}

# Removed with their content; any other element that is not allowed is replaced by its content.
DROPPED: Final = read_names(__file__, "allowed/dropped_elements")
